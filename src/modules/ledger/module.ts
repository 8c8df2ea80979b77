import { SECOND_MS } from '../../kernel/time.ts'
import { forGood, MONEY, owner, until } from '../../platform/retention.ts'
import { type Face, loop } from '../face.ts'

export const ledger = {
  name: 'ledger',
  is: 'the books of a store: journals that sum to zero, chained and verified',
  uses: [],
  tables: {
    ledger_checkpoints: forGood(MONEY),
    ledger_entries: forGood(MONEY),
    ledger_holds: forGood(MONEY),
    ledger_journals: forGood(MONEY),
    ledger_seals: forGood(MONEY),
    ledger_unsealed: until('numbered and chained', 'ledger numbering'),
    ledger_verified: owner('stores', 'one row for each'),
  },
  routes: async ({ key }) => {
    const { merchantRoutes } = await import('./routes.ts')
    return { merchant: [merchantRoutes(key('ledger verification'))] }
  },
  loops: async ({ workerDatabase: database, config, logger, metrics, key, ports }) => {
    const [{ chainNewJournals }, { createVerification }, { announceOnce }] = await Promise.all([
      import('./jobs.ts'),
      import('./verify-jobs.ts'),
      import('../../platform/announce-once.ts'),
    ])
    const counts = announceOnce(ports.ledger.journalsNumbered)
    const verify = createVerification({
      database,
      key: key('ledger verification'),
      days: config.HISTORY_CHECK_DAYS,
      logger,
      onStep: metrics?.countLedger,
    })
    return [
      loop('ledger numbering', SECOND_MS, (signal) =>
        chainNewJournals(database, {
          signal,
          onLinks: counts.onNew,
          onNumbered: counts.onCommitted,
        }),
      ),
      loop('ledger verification', 5 * SECOND_MS, verify),
    ]
  },
} as const satisfies Face
