import { Readable } from 'node:stream'
import { spec, type TestEvent } from 'node:test/reporters'

/** The totals at the end, in which each file without a match counts as a test. */
const TOTALS = ['test:diagnostic', 'test:summary']

/** Where the run says which part of a name it looks for. */
export const GREP_SETTING = 'TEST_GREP'

/**
 * Shows a run by name: the tests that Node's filter let through, and how many have the name. A run in
 * which no test has it fails, since a misspelled name would look like a pass otherwise.
 */
// biome-ignore lint/style/noDefaultExport: Node takes a reporter by its default export.
export default async function* report(source: AsyncIterable<TestEvent>) {
  const names: string[] = []
  yield* Readable.from(withoutFiles(source, names)).compose(spec())
  const text = process.env[GREP_SETTING] ?? ''
  const found = names.filter((name) => name.includes(text)).length
  if (found === 0) process.exitCode = 1
  yield `\n${found === 0 ? 'No' : found} test${found === 1 ? ' has' : 's have'} "${text}" in the name.\n`
}

/** Passes on the events about tests, and collects the name of each test with the names around it. */
async function* withoutFiles(source: AsyncIterable<TestEvent>, names: string[]) {
  const around: string[] = []
  for await (const event of source) {
    if (TOTALS.includes(event.type)) continue
    // Node reports a file as a test where no test in it has the name.
    const { data } = event
    const isFile = data !== undefined && 'name' in data && /^\/.*\.m?[jt]s$/.test(data.name)
    if (isFile && event.type !== 'test:fail') continue
    if (event.type === 'test:start') around.splice(event.data.nesting, Infinity, event.data.name)
    const isResult = event.type === 'test:pass' || event.type === 'test:fail'
    if (isResult && event.data.details.type !== 'suite') {
      names.push([...around.slice(0, event.data.nesting), event.data.name].join(' '))
    }
    yield event
  }
}
