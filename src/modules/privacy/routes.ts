import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { ERASE, type ErasureDeps, erase, previewErasure } from './erase.ts'
import { readExport, requestExport } from './export.ts'
import {
  ErasureAnnounced,
  ErasureDone,
  ErasureRequest,
  ExportRead,
  ExportRequest,
  ExportStarted,
} from './schema.ts'

export interface PrivacyDeps extends ErasureDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
  /** Encrypts the exports. */
  exportKey: Buffer
}

const scope = 'manage:own_privacy'
const tags = ['merchant-ops']

/** Refusals that are not stored under the key: they end by themselves, or with another token. */
const NOT_STORED: readonly ErrorCode[] = ['confirm_invalid', 'order_busy', 'erasure_too_broad']

const KEY_FAILURES: readonly ErrorCode[] = [
  'idempotency_key_required',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_in_progress',
]

export const merchantRoutes =
  (deps: PrivacyDeps): Routes =>
  async (app) => {
    await exportRoutes(deps)(app)

    app.post(
      '/v1/my/privacy/erase',
      {
        config: {
          scope,
          failures: [...NOT_STORED, ...KEY_FAILURES],
          headers: { 'idempotency-key': Type.String({ description: 'Required with `confirm`.' }) },
        },
        schema: {
          operationId: 'eraseCustomer',
          tags,
          summary:
            'Erase a customer in two calls. The first answers what would be erased and a `confirm` value; the second, with that value, erases it.',
          body: ErasureRequest,
          response: { 200: ErasureDone, 202: ErasureAnnounced },
        },
      },
      async (request, reply) => {
        const { db, actor } = request
        const { customer_ref, confirm } = request.body
        if (confirm === undefined)
          return reply.code(202).send(await previewErasure(deps, db, customer_ref))
        const options = { operation: ERASE, secret: deps.idempotencyKey, passing: NOT_STORED }
        return once(request, reply, options, (claim) =>
          erase(deps, db, { actor, claim }, { customer_ref, confirm }),
        )
      },
    )
  }

const exportRoutes =
  ({ exportKey }: PrivacyDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/my/privacy/export',
      {
        config: { scope },
        schema: {
          operationId: 'exportCustomer',
          tags,
          summary: 'Export all data that the store has about a customer.',
          body: ExportRequest,
          response: { 202: ExportStarted },
        },
      },
      async ({ db, actor, body }, reply) =>
        reply.code(202).send(await requestExport(db, actor, body.customer_ref)),
    )

    app.get(
      '/v1/my/privacy/exports/:id',
      {
        config: { scope, failures: ['export_not_found'] },
        schema: {
          operationId: 'readCustomerExport',
          tags,
          summary: 'Read an export. It is available for seven days.',
          params: Params('id'),
          response: { 200: ExportRead },
        },
      },
      async ({ db, params }, reply) => {
        const text = await readExport(db, exportKey, params.id)
        // The text is complete: the serialiser of the route must not write it again.
        return reply.type('application/json; charset=utf-8').send(text as never) as never
      },
    )
  }
