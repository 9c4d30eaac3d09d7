/** Made-up messages for these tests. */
export const ADMISSION = [
  'MSH|^~\\&|WARD^1.2.3^ISO|EAST|LAB|WEST|20240301081500+0100||ADT^A01^ADT_A01|C-1001|T|2.5.1||||||UNICODE UTF-8',
  'EVN|A01|20240301081500',
  'PID|1||4711^^^EAST&1.2.3.4&ISO^MR~X-9^^^TOWN^SS||O\\T\\Neill^Mia^""||19800229|F',
  'NTE|1||First line\\.br\\second \\F\\ third',
  'OBX|1|NM|8867-4^Heart rate^LN||61|/min|||||F',
  'OBX|2|TX|note^Note||C:\\Temp\\file \\XC3A9\\',
  'OBX|3|NM|8310-5^Temperature^LN||36.8~36.9|Cel',
].join('\r');

/** The same separators question put differently: all five are others, and the usual ones are data. */
export const OWN_SEPARATORS = [
  'MSH#*+!%#WARD*1.2.3*ISO#EAST#LAB#WEST#20240301081500##ORU*R01*ORU_R01#C-1002#P#2.5.1',
  'PID#1##4711***EAST%1.2.3.4%ISO*MR+X-9##O!T!Neill*Mia',
  'NTE#1##a|b^c~d\\e&f !F! !S! !R! !E! !X41! !.br! end',
].join('\r');
