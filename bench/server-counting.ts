import { readConfig } from '../src/config.ts'
import * as analytics from '../src/modules/analytics/jobs.ts'
import * as ledger from '../src/modules/ledger/jobs.ts'
import * as segments from '../src/modules/segments/jobs.ts'
import { announceOnce } from '../src/platform/announce-once.ts'
import { createLogger } from '../src/platform/log.ts'
import { startLoop } from '../src/platform/loop.ts'
import { openRuntime } from '../src/runtime.ts'
import { report } from './load.ts'

/** A worker that numbers journals, and counts them for reports and segments if it is told to. */
const [databaseUrl = '', secretKey = '', counting = ''] = process.argv.slice(2)
const logger = createLogger('error', { write: (line) => void process.stderr.write(line) })
const { workerDatabase: database } = await openRuntime({
  config: readConfig(process.env),
  secrets: { OPERATOR_TOKEN: 'none', STOREFRONT_TOKEN: 'none', SECRET_KEY: secretKey },
  logger,
  databaseUrl,
})
const loop = (name: string, everyMs: number, step: (signal: AbortSignal) => Promise<number>) =>
  startLoop({ name, everyMs, step, logger })

if (counting === 'on') {
  const counts = announceOnce([analytics.onNewLinks, segments.onNewLinks])
  loop('ledger numbering', 1_000, (signal) =>
    ledger.chainNewJournals(database, {
      signal,
      onLinks: counts.onNew,
      onNumbered: counts.onCommitted,
    }),
  )
  loop('segments', 5_000, (signal) => segments.countPeople(database, signal))
  loop('analytics', 5_000, (signal) => analytics.countNumbered(database, signal))
} else {
  loop('ledger numbering', 1_000, (signal) => ledger.chainNewJournals(database, { signal }))
}
report('')
