import { list, text } from './bodies.ts';

/** Searches of Patients that make the most work, near each bound of docs/limits.md. */
export const worstSearches: Record<string, string> = {
  'every Patient, 1,000 to a page': '_count=1000',
  'a long text anywhere in the name': `name:contains=${text(1000)}`,
  'text that no name has': 'name:contains=zzzz&_count=1000',
  'twenty words of a name': `name=${list(20, (n) => `word${n}`).join('%20')}`,
  'fifty dates': list(50, (n) => `birthdate=ge1${900 + n}-01-01`).join('&'),
  'two hundred alternatives, twelve times': list(
    12,
    (n) => `identifier=${list(200, (m) => `urn:${n}|${m}`).join(',')}`,
  ).join('&'),
  'a thousand ids': `_id=${list(1000, (n) => `p${n}`).join(',')}`,
  'a filter of many terms': `_filter=${list(100, (n) => `birthdate%20ge%201${900 + (n % 99)}`).join('%20and%20')}`,
  'a filter of many alternatives': `_filter=${list(100, (n) => `name%20co%20${n}z`).join('%20or%20')}`,
  'sorted by what all have': '_sort=-birthdate,family,given&_count=1000&gender=female',
  'a total': 'gender=female&_total=accurate&_count=1',
  'a count of all': '_summary=count',
  'a count by the first letter': 'name=f&_summary=count',
  'a chain back': '_has:Observation:subject:code=8867-4&_count=1000',
  'all that refer to a page': '_revinclude=Observation:subject&_count=1000',
  'a far offset': '_count=100&_offset=6000',
  'none of a value': list(20, (n) => `birthdate=ne19${40 + n}&gender:not=male`).join('&'),
};
