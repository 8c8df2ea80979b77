// Moves the time of a sandbox store, waits until that is done, and prints what happened on the way.
//
//   FAIRDOCK_URL=http://127.0.0.1:8080 FAIRDOCK_KEY=fdk_... node advance.mjs P1M
//
// The argument is a duration of ISO 8601, or a time of RFC 3339. The key needs the scope write:own_store.

import { setTimeout as pause } from 'node:timers/promises'

const { FAIRDOCK_URL, FAIRDOCK_KEY } = process.env
const [wanted] = process.argv.slice(2)
if (!FAIRDOCK_URL || !FAIRDOCK_KEY || !wanted) {
  process.stderr.write('Set FAIRDOCK_URL and FAIRDOCK_KEY, and name a duration such as P1M\n')
  process.exit(2)
}

async function call(method, query = '', body = undefined) {
  const answer = await fetch(new URL(`/v1/my/test-clock${query}`, FAIRDOCK_URL), {
    method,
    headers: { authorization: `Bearer ${FAIRDOCK_KEY}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const read = await answer.json()
  if (answer.ok) return read
  const issue = read.issues?.[0]
  process.stderr.write(`${issue ? `${issue.path} ${issue.message}` : read.error.message}\n`)
  process.exit(1)
}

await call('POST', '', wanted.startsWith('P') ? { advance: wanted } : { set: wanted })

// A store with much to do takes minutes for a year.
let clock = await call('GET')
while (clock.state === 'advancing') {
  await pause(500)
  clock = await call('GET')
}

for (let page = clock; ; ) {
  for (const { at, kind, id, outcome } of page.ran) {
    process.stdout.write(`${[at, kind, id ?? '-', outcome].join('\t')}\n`)
  }
  if (page.next_after === undefined) break
  page = await call('GET', `?after=${encodeURIComponent(page.next_after)}`)
}
if (clock.ran.length === 0) process.stdout.write('nothing was due\n')
const next = clock.next_due
if (next !== null) process.stdout.write(`next: ${next.kind} is due at ${next.at}\n`)
process.stdout.write(`${clock.state}: it is ${clock.now}\n`)
process.exitCode = clock.state === 'ready' ? 0 : 1
