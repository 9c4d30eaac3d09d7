// Node itself runs our TypeScript by stripping types; jest gets the very same text.
const { stripTypeScriptTypes } = require('node:module');
const { createHash } = require('node:crypto');

module.exports = {
  process: (source) => ({ code: stripTypeScriptTypes(source) }),
  getCacheKey: (source) => createHash('sha256').update(source).update(process.version).digest('hex'),
};
