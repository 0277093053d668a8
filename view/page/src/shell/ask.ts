// SPDX-License-Identifier: BSD-3-Clause
// Questions to the server, or to the answers inside this file: fathom export --format html puts them into the
// element #fathom-answers, and then nothing is ever asked from anywhere.
import { useEffect, useState } from 'preact/hooks';
import { answerKey, fromBase64, Parameters } from '../pure/answer_key';

export class AskError extends Error {}

type Embedded = Record<string, unknown>;

function readEmbedded(): Embedded | null {
  const element = document.getElementById('fathom-answers');
  if (!element) return null;
  try {
    return JSON.parse(element.textContent ?? '') as Embedded;
  } catch {
    return {};
  }
}
const embedded = readEmbedded();

/** This page is a file of its own, with no server behind it. */
export const isFile = embedded !== null;

const absent = 'This file does not hold the answer. "fathom view RUN" shows it.';

/** The question was given up before its answer was there. */
export class GivenUp extends Error {}

// Answers are kept while they are among the last kMost that were used. A request is aborted once all who asked
// have given it up; a caller without a signal never does.
const kMost = 400;
interface Kept {
  answer: Promise<unknown>;
  request: AbortController;
  users: number;
  there: boolean;
}
const kept = new Map<string, Kept>();

function keep<T>(key: string, make: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal?.aborted) return Promise.reject(new GivenUp());
  let entry = kept.get(key);
  if (!entry) {
    const request = new AbortController();
    const answer = make(request.signal).catch((error: unknown) => {
      throw request.signal.aborted ? new GivenUp() : error;
    });
    const made: Kept = { answer, request, users: 0, there: false };
    // A question that failed may be asked again.
    made.answer.then(() => (made.there = true), () => kept.get(key) === made && kept.delete(key));
    entry = made;
  }
  const held = entry;
  kept.delete(key);
  kept.set(key, held);
  if (kept.size > kMost) kept.delete(kept.keys().next().value as string);
  held.users += signal ? 1 : Infinity;
  signal?.addEventListener('abort', () => {
    if (--held.users > 0 || held.there) return;
    held.request.abort();
    if (kept.get(key) === held) kept.delete(key);
  });
  return held.answer as Promise<T>;
}

export const forget = (prefix: string): void => {
  for (const key of [...kept.keys()]) if (key.startsWith(prefix)) kept.delete(key);
};

type Progress = (what: string, share: number) => void;
const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function fetched(key: string, signal: AbortSignal, progress?: Progress): Promise<Response> {
  for (;;) {
    let response: Response;
    try {
      response = await fetch(key.replace(/^\//, ''), { credentials: 'same-origin', signal });
    } catch {
      if (signal.aborted) throw new GivenUp();
      throw new AskError('The server does not answer. Is "fathom view" still running?');
    }
    if (response.status === 202) {
      const body = (await response.json()) as { building?: { what?: string; share?: number } };
      progress?.(body.building?.what ?? 'answer', body.building?.share ?? 0);
      await wait(500);
      if (signal.aborted) throw new GivenUp();
      continue;
    }
    if (response.ok) return response;
    let sentence = '';
    try {
      sentence = String(((await response.json()) as { error?: string }).error ?? '');
    } catch {
      // no JSON: the status says it
    }
    if (response.status === 401 || response.status === 403)
      sentence ||= 'The server does not know this browser. Open the link that "fathom view" printed.';
    throw new AskError(sentence || `The server answered with status ${response.status}.`);
  }
}

/** The JSON answer to a question. Errors are sentences. `signal` gives it up. */
export function ask<T>(path: string, parameters: Parameters = {}, progress?: Progress, signal?: AbortSignal): Promise<T> {
  const key = answerKey(path, parameters);
  return keep(key, async (request) => {
    if (embedded) {
      const found = embedded[key];
      if (found === undefined) throw new AskError(absent);
      return found as T;
    }
    const response = await fetched(key, request, progress);
    return (await response.json()) as T;
  }, signal);
}

/** The binary answer to a question. */
export function askBytes(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<ArrayBuffer> {
  const key = answerKey(path, parameters);
  return keep(key, async (request) => {
    if (embedded) {
      const found = embedded[key] as { base64?: string } | undefined;
      if (typeof found?.base64 !== 'string') throw new AskError(absent);
      return fromBase64(found.base64);
    }
    return (await fetched(key, request)).arrayBuffer();
  }, signal);
}

export interface Answer<T> {
  /** the question that `answer` answers, as answerKey spells it */
  key: string | null;
  answer: T | null;
  error: string | null;
  building: { what: string; share: number } | null;
}

/**
 * The answer to a question, asked again when it changes; null `path`: nothing is asked. The answer to the
 * question before stays until the next is there. An `unfinished` answer is shown, and asked for again each second.
 */
export function useAnswer<T>(path: string | null, parameters: Parameters = {}, unfinished?: (answer: T) => boolean): Answer<T> {
  const key = path && answerKey(path, parameters);
  const [state, set] = useState<Answer<T>>({ key: null, answer: null, error: null, building: null });
  useEffect(() => {
    if (!path) return;
    let live = true;
    let timer = 0;
    const request = new AbortController();
    const progress = (what: string, share: number) => {
      if (live) set((old) => ({ ...old, building: { what, share } }));
    };
    const show = (answer: T) => {
      if (!live) return;
      set({ key, answer, error: null, building: null });
      if (isFile || !unfinished?.(answer)) return;
      timer = window.setTimeout(() => {
        kept.delete(key!);
        ask<T>(path, parameters, undefined, request.signal).then(show, () => undefined);
      }, 1000);
    };
    ask<T>(path, parameters, progress, request.signal).then(
      show,
      (error: unknown) =>
        live && set({ key, answer: null, error: error instanceof AskError ? error.message : `This answer cannot be shown: ${String(error)}`, building: null }),
    );
    return () => {
      live = false;
      clearTimeout(timer);
      request.abort();
    };
  }, [key]);
  return path ? state : { key: null, answer: null, error: null, building: null };
}
