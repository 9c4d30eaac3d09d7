// Has a process hash passwords at a hundredth of the 40 ms of a processor that production takes for each. What a hash
// says of its cost stays: who did not hash it cannot verify it. Loaded before what hashes, of each of its threads.
const crypto = require('node:crypto');
const { syncBuiltinESMExports } = require('node:module');

const quick = { isOn: true };
const { argon2 } = crypto;
crypto.argon2 = (algorithm, parameters, done) =>
  argon2(algorithm, quick.isOn ? { ...parameters, memory: 64, passes: 1 } : parameters, done);
syncBuiltinESMExports();

module.exports = quick;
