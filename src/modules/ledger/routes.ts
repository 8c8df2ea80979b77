import { Type } from 'typebox'
import { forHeavyRead } from '../../db/list.ts'
import type { Routes } from '../../http/route.ts'
import { clamp } from '../../kernel/page.ts'
import { Proof } from './schema.ts'
import * as ledger from './service.ts'

const FROM = { min: 1, max: Number.MAX_SAFE_INTEGER - 1_000_000, otherwise: 1 }

/** Adds the routes of the ledger. `key` signs how far the platform has verified a ledger. */
export const merchantRoutes =
  (key: Buffer): Routes =>
  async (app) => {
    app.get(
      '/v1/merchant/ledger/proof',
      {
        config: {
          scope: 'manage:own_analytics',
          query: {
            from: Type.Integer({
              minimum: 1,
              description: 'The first journal to verify. Absent: the one after `checkpoint`.',
            }),
          },
        },
        schema: {
          operationId: 'proveLedger',
          tags: ['merchant-commerce'],
          summary:
            'Prove the ledger: the trial balance, and the hash chain over the journals computed again.',
          description:
            'One call verifies up to 10,000 journals, and ends at the first thousand after half a second; ' +
            '`next_from` says where to continue. It begins after the ' +
            'journals that the platform has verified already; `from=1` begins with the first. Store the ' +
            'head of the chain: with it you can check later that no earlier journal was changed.',
          response: { 200: Proof },
        },
      },
      ({ db, query }) => {
        const { from } = query as { from?: unknown }
        return ledger.proof(forHeavyRead(db), {
          key,
          from: from === undefined ? null : clamp(from, FROM),
        })
      },
    )
  }
