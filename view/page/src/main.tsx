// SPDX-License-Identifier: BSD-3-Clause
// The pages of `fathom view`. Each page is one import here.
import { render } from 'preact';
import './style.css';
import './overview/page';
import './timeline/page';
import './matrix/page';
import './calls/page';
import './compare/page';
import './live/page';
import './machine/page';
import './network/page';
import { App } from './shell/app';

render(<App />, document.getElementById('app')!);
