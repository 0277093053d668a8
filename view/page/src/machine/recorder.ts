// SPDX-License-Identifier: BSD-3-Clause
// Records the canvas to a video, as the browser encodes it (WebM; MediaRecorder). Nothing leaves the
// page: the video is a file that the reader saves.
const TYPES = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'];

export function canRecord(): boolean {
  return (
    typeof MediaRecorder !== 'undefined' &&
    typeof HTMLCanvasElement !== 'undefined' &&
    'captureStream' in HTMLCanvasElement.prototype
  );
}

export class Recorder {
  private recorder?: MediaRecorder;
  private parts: Blob[] = [];

  get recording() {
    return this.recorder?.state === 'recording';
  }

  // Of this canvas, until stop(). Changing the renderer makes a new canvas: stop before.
  start(canvas: HTMLCanvasElement, frames = 30) {
    const type = TYPES.find((candidate) => MediaRecorder.isTypeSupported(candidate)) ?? '';
    this.parts = [];
    this.recorder = new MediaRecorder(canvas.captureStream(frames), type ? { mimeType: type } : undefined);
    this.recorder.ondataavailable = (event) => {
      if (event.data.size > 0) this.parts.push(event.data);
    };
    this.recorder.start(500);
  }

  // The video; null if nothing was being recorded.
  stop(): Promise<Blob | null> {
    const { recorder } = this;
    if (!recorder || recorder.state === 'inactive') return Promise.resolve(null);
    return new Promise((resolve) => {
      recorder.onstop = () => {
        recorder.stream.getTracks().forEach((track) => track.stop());
        this.recorder = undefined;
        resolve(new Blob(this.parts, { type: recorder.mimeType || 'video/webm' }));
      };
      recorder.stop();
    });
  }
}
