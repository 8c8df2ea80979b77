import { Type } from 'typebox'
import type { Database } from '../../db/database.ts'
import { requireOwner } from '../../http/guards.ts'
import type { Routes } from '../../http/route.ts'
import { pageQuery, readPage } from '../../kernel/page.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import {
  Credential,
  InitialCredential,
  IssuedCredential,
  NewCredential,
  Revocation,
} from './schema.ts'
import * as credentials from './service.ts'

/**
 * The contract lists all keys at once, so a page has as many as a store may have unless the operator
 * allows it more.
 */
const KEYS = { limitDefault: 5_000, limitMax: 5_000 }

export const ownerRoutes =
  (database: Database): Routes =>
  async (app) => {
    app.post(
      '/v1/my/credentials/initial',
      {
        config: {
          failures: [
            'email_not_verified',
            'unknown_tenant',
            'initial_credential_exists',
            'limit_reached',
          ],
        },
        schema: {
          operationId: 'createInitialCredential',
          tags: ['merchant-credentials'],
          summary:
            'Create the initial key of a store, once your e-mail address is verified. The key is shown only in this answer.',
          body: InitialCredential,
          response: { 201: ref(IssuedCredential) },
        },
        // Every member is optional, so the body is too.
        preValidation: async (request) => {
          if (request.body === undefined) request.body = {}
        },
      },
      async (request, reply) => {
        const { actor, body } = request
        const owner = requireOwner(request)
        const issued = await credentials.issueInitial(database, actor, owner, body)
        return reply.code(201).send(issued)
      },
    )
  }

export const merchantRoutes =
  (database: Database): Routes =>
  async (app) => {
    app.get(
      '/v1/my/credentials',
      {
        config: { scope: 'manage:own_credentials', query: pageQuery(KEYS) },
        schema: {
          operationId: 'listCredentials',
          tags: ['merchant-credentials'],
          summary:
            'List the keys of the store, also revoked ones. The secret of a key is never shown.',
          response: { 200: PageOf('credentials', ref(Credential)) },
        },
      },
      ({ db, query }) => credentials.list(db, readPage(query, KEYS)),
    )

    app.post(
      '/v1/my/credentials',
      {
        config: {
          scope: 'manage:own_credentials',
          failures: ['unknown_scope', 'scope_escalation', 'limit_reached'],
        },
        schema: {
          operationId: 'createCredential',
          tags: ['merchant-credentials'],
          summary:
            'Create a key with at most the scopes of your own. The key is shown only in this answer.',
          body: NewCredential,
          response: { 201: ref(IssuedCredential) },
        },
      },
      async ({ db, actor, merchant, body }, reply) => {
        const issued = await credentials.issue(db, { actor, ...merchant }, body)
        return reply.code(201).send(issued)
      },
    )

    await oneKeyRoutes(database)(app)
  }

const oneKeyRoutes =
  (database: Database): Routes =>
  async (app) => {
    app.get(
      '/v1/my/credentials/self',
      {
        config: { scope: 'any' },
        schema: {
          operationId: 'readOwnCredential',
          tags: ['merchant-credentials'],
          summary: 'Read the key that this request is made with.',
          response: {
            200: Type.Object({ credential: ref(Credential), tenant_ref: Type.String() }),
          },
        },
      },
      async ({ db, merchant }) => ({
        credential: await credentials.get(db, merchant.credentialId),
        tenant_ref: merchant.tenant,
      }),
    )

    app.post(
      '/v1/my/credentials/:id/revoke',
      {
        config: {
          scope: 'manage:own_credentials',
          orOwner: true,
          failures: ['credential_not_found'],
        },
        schema: {
          operationId: 'revokeCredential',
          tags: ['merchant-credentials'],
          summary: 'Revoke a key for good. Its next request is answered with 401.',
          params: Params('id'),
          response: { 200: Revocation },
        },
      },
      ({ db, actor, owner, params }) =>
        owner === null
          ? credentials.revoke(db, actor, params.id)
          : credentials.revokeAsOwner(database, actor, owner, params.id),
    )
  }
