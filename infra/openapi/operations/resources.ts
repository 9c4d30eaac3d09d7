import { explainBody } from '../../../shared/records/read/explain.ts';
import {
  answersFhir,
  answersJson,
  type Body,
  done,
  fhir,
  json,
  ref,
  refused,
  text,
  type WordsOf,
} from '../words.ts';

const unknown = refused('There is none that the caller may see');
const gone = refused('Deleted');
const invalid = refused('Not valid FHIR');
const conflict = refused('Changed at the same time, or still in use');
const otherVersion = refused('Another version, or several matches');
const resource = (what: string) => answersFhir('Resource', what);
const bundle = (what: string) => ({ 200: answersFhir('Bundle', what) });
const versionPage = bundle('A page of versions');
/** What a write may be refused for. */
const writeRefusals = { 404: unknown, 409: conflict, 412: otherVersion, 422: invalid };
const created = { 201: resource('As it was created'), ...writeRefusals };
const patched = { 200: resource('As it is now'), ...writeRefusals };
const updated = { ...patched, ...created };
const newResource = fhir(ref('NewResource'));
const optional = { ...newResource, isOptional: true as const };
const searching = {
  _count: 'Entries of a page',
  _sort: 'Codes of parameters, `-` before one that goes down',
  _fields: 'Elements that are answered',
  _summary: '`true`, `text`, `data`, `count` or `false`',
  _total: '`none`, `estimate` or `accurate`',
  _include: 'References whose targets come along',
  _revinclude: 'References to what was found that come along',
  _filter: 'A condition as R4 writes it',
  '<parameter>': 'Every search parameter of the type, as `metadata` lists them',
};
const history = {
  _count: 'Versions of a page',
  _offset: 'Versions to leave out',
  _cursor: 'Of the next page',
  _since: 'Made since',
  _at: 'Current at some time in this date, or at this instant',
};
const ifMatch = { 'If-Match': 'The version that is meant to be replaced' };
const written = {
  Prefer: '`return=minimal`, `return=representation` or `return=OperationOutcome`',
};
const writing = { ...ifMatch, ...written };
const patches = {
  content: {
    'application/json-patch+json': { type: 'array', items: ref('PatchOperation') },
    // A FHIRPath Patch: Parameters.
    'application/fhir+json': ref('NewResource'),
  },
};
const everything = {
  query: {
    _type: 'Types, with commas between them',
    _since: 'Changed since',
    _count: 'Entries of a page',
    _cursor: 'Of the next page',
  },
  answers: bundle('A page'),
};
const validation = {
  body: newResource,
  answers: { 200: answersFhir('OperationOutcome', 'What it would be refused for') },
};
const conditional = { query: { '<parameter>': 'What the one resource is found by, as in a search' } };

const asInQuery = { type: 'object', additionalProperties: text, description: 'As in the query' };
const searchForm: Body = {
  content: { 'application/x-www-form-urlencoded': asInQuery },
  isOptional: true,
};

const searched = { query: searching, answers: bundle('A page') };
const searchedByPost = { ...searched, body: searchForm };

const exporting = {
  query: {
    _type: 'Types, with commas between them; all that the caller may export when left out',
    _since: 'Written or deleted since this instant',
    _outputFormat: '`application/fhir+ndjson`',
    includeAssociatedData:
      'For administrators, with commas: `_history` earlier versions, `_code` the code of Bots, `_people` Users',
  },
  summary: 'Begin an export of the Project (FHIR Bulk Data, system level)',
  headers: { Prefer: '`respond-async`' },
  answers: {
    202: answersFhir('OperationOutcome', 'Accepted: `Content-Location` is where to ask how far it is'),
    429: refused('Another export of the Project goes on'),
  },
};
export const resources: WordsOf<'resources'> = {
  export: exporting,
  exportByPost: { ...exporting, body: optional },
  exportStatus: {
    summary: 'How far an export is, and its manifest when it has ended',
    answers: {
      200: answersJson('Metadata', 'The manifest: its files, deletions and errors'),
      202: { description: 'It goes on: `X-Progress` says how far' },
      422: refused('It was given up'),
    },
  },
  cancelExport: { summary: 'Cancel an export, or remove its files', answers: { 202: done } },
  exportFile: {
    summary: 'A file of an export: a resource in each line',
    headers: { 'Accept-Encoding': '`gzip`: smaller, and asked for where one large Binary is a file' },
    answers: {
      200: { description: 'The file', content: { 'application/fhir+ndjson': text } },
      406: refused('Too long to be sent without gzip'),
    },
  },
  jobStatus: {
    summary: 'How far an asynchronous run is',
    answers: { 200: resource('It has ended'), 202: resource('It is under way') },
  },
  cancelJob: {
    summary: 'Cancel an asynchronous run: one that has begun is stopped within seconds',
    answers: { 202: done },
  },
  runStatus: {
    summary: 'Whether a run is to end: the sandbox asks, with the token of the run',
    answers: { 200: answersJson('Metadata', 'Its status, `active` or `cancelled`') },
  },
  cancelRun: {
    summary: 'Cancel the run that the caller started with this X-Run-Key and waits for',
    answers: { 202: done },
  },
  metadata: { summary: 'R4 CapabilityStatement', answers: { 200: resource('The CapabilityStatement') } },
  bundle: {
    summary: 'Carry out a batch or transaction',
    body: fhir(ref('Bundle')),
    answers: { ...bundle('What became of each entry'), ...writeRefusals },
  },
  search: { summary: 'Search', ...searched },
  create: {
    summary: 'Create',
    headers: { 'If-None-Exist': 'Create only if a search with this query finds none', ...written },
    body: newResource,
    answers: { 200: resource('The one that exists'), ...created },
  },
  conditionalUpdate: {
    summary: 'Update the one that a query finds, or create it',
    ...conditional,
    headers: writing,
    body: newResource,
    answers: updated,
  },
  conditionalPatch: {
    summary: 'Patch the one that a query finds',
    ...conditional,
    headers: writing,
    body: patches,
    answers: patched,
  },
  conditionalDelete: {
    summary: 'Delete the one that a query finds',
    ...conditional,
    answers: { 409: conflict, 412: otherVersion },
  },
  searchTypes: {
    summary: 'Search several types',
    ...searched,
    query: { '_type!': 'Types, with commas between them', ...searching },
  },
  searchTypesByPost: {
    summary: 'Search several types, with names and birth dates in the body',
    ...searchedByPost,
  },
  searchCompartment: { summary: 'Search what is in the compartment of a Patient', ...searched },
  searchCompartmentByPost: {
    summary: 'Search a compartment, with the parameters in the body',
    ...searchedByPost,
  },
  searchByPost: { summary: 'Search, with names and birth dates in the body', ...searchedByPost },
  systemHistory: {
    summary: 'What has changed',
    query: { _type: 'Types, with commas between them', ...history },
    answers: versionPage,
  },
  typeHistory: { summary: 'What has changed in a type', query: history, answers: versionPage },
  read: {
    summary: 'Read',
    headers: { 'If-None-Match': 'The version that the caller has', 'If-Modified-Since': 'The time of it' },
    answers: {
      200: resource('As it is now; a Binary as its own content type, unless Accept asks for FHIR'),
      304: { description: 'The caller has it' },
      410: gone,
    },
  },
  update: {
    summary: 'Update, or create under this id',
    headers: writing,
    body: newResource,
    answers: updated,
  },
  patch: {
    summary: 'Patch (RFC 6902, or a FHIRPath Patch)',
    headers: writing,
    body: patches,
    answers: { ...patched, 410: gone },
  },
  delete: {
    summary: 'Delete',
    headers: ifMatch,
    answers: { 409: refused('A membership uses it'), 412: otherVersion },
  },
  history: { summary: 'The versions of a resource', query: history, answers: versionPage },
  everything: { summary: 'A Patient with all that belongs to them', ...everything },
  everythingByPost: { summary: 'The same, with the parameters in the body', ...everything, body: optional },
  explain: {
    summary: 'What a member would see, and which of their rules says so; for administrators',
    body: json(explainBody),
    answers: { 200: answersFhir('Parameters', 'As far as the caller may see it too') },
  },
  validate: { summary: 'What a new resource would be refused for', ...validation },
  validateNext: { summary: 'What the next state of a resource would be refused for', ...validation },
  readVersion: { summary: 'Read a version', answers: { 200: resource('The version'), 410: gone } },
};
