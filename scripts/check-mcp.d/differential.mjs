// Sends the same messages to our server and to the official one, and lists how the answers differ.
// Differences that are not on the list of intended ones are errors, and so are listed ones that are gone.
//
// usage: node differential.mjs OUR_COMMAND THEIR_COMMAND

import { cases } from './cases.mjs';
import { intended } from './intended.mjs';
import { Server } from './server.mjs';

/** Lists the paths at which two values differ. */
function differences(ours, theirs, path = '') {
  if (Object.is(ours, theirs)) return [];
  const bothAre = (test) => test(ours) && test(theirs);

  if (bothAre(Array.isArray) || bothAre((value) => value?.constructor === Object)) {
    const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...keys].flatMap((key) => differences(ours[key], theirs[key], `${path}/${key}`));
  }
  return [{ path, ours, theirs }];
}

function short(value) {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}

/** Leaves out the tools that only one of the servers has, and the texts of errors, which are in our own words. */
function comparable(answer) {
  if (answer?.result?.isError) return { result: { isError: true } };
  const tools = answer?.result?.tools;
  if (!tools) return answer;
  return { result: { tools: tools.filter((tool) => tool.name === 'sequentialthinking') } };
}

async function answers(command) {
  const server = await Server.start(command);
  const all = [];
  for (const { message } of cases) all.push(comparable(await server.ask(message)));
  server.stop();
  return all;
}

function reason(name, path) {
  return intended.find((one) => one.case.test(name) && one.path.test(path));
}

const [ours, theirs] = await Promise.all(process.argv.slice(2).map(answers));
const used = new Set();
const unintended = [];
let same = 0;

cases.forEach(({ name }, index) => {
  const found = differences(ours[index], theirs[index]);
  if (found.length === 0) same += 1;
  for (const { path, ours, theirs } of found) {
    const why = reason(name, path);
    if (why) used.add(why);
    else unintended.push(`${name}: ${path}\n  ours:   ${short(ours)}\n  theirs: ${short(theirs)}`);
  }
});

console.log(`${cases.length} calls, ${same} with the same answer. Intended differences:`);
for (const one of intended) console.log(`- ${one.why}${used.has(one) ? '' : ' (NOT FOUND)'}`);

if (unintended.length > 0) console.error(`\nDifferences that are not intended:\n${unintended.join('\n')}`);
process.exit(unintended.length > 0 || used.size < intended.length ? 1 : 0);
