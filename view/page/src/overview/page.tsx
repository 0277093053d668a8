// SPDX-License-Identifier: BSD-3-Clause
// Overview: what the run was, what was found, and where its time went.
import { addPage, PageProperties } from '../shell/pages';
import { Sentence } from '../shell/state_of';

function Overview({ meta }: PageProperties) {
  return <Sentence>{`${meta.application}: ${meta.ranks} ranks`}</Sentence>;
}

addPage({ id: 'overview', title: 'Overview', order: 10, render: (properties) => <Overview {...properties} /> });
