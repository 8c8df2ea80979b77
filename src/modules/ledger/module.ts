import { forGood, MONEY, owner, until } from '../../platform/retention.ts'
import type { Face } from '../face.ts'

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
} as const satisfies Face
