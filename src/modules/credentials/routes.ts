import { Type } from 'typebox'
import type { Database } from '../../db/database.ts'
import { requireOwner } from '../../http/guards.ts'
import type { Routes } from '../../http/route.ts'
import { Params, ref } from '../../kernel/schema.ts'
import {
  Credential,
  InitialCredential,
  IssuedCredential,
  NewCredential,
  Revocation,
} from './schema.ts'
import * as credentials from './service.ts'

export const ownerRoutes =
  (database: Database): Routes =>
  async (app) => {
    app.post(
      '/v1/my/credentials/initial',
      {
        config: { failures: ['unknown_tenant', 'initial_credential_exists'] },
        schema: {
          operationId: 'createInitialCredential',
          tags: ['merchant-credentials'],
          summary: "Mint a store's first key. The key is shown only here.",
          body: InitialCredential,
          response: { 201: ref(IssuedCredential) },
        },
        // Every member may be left out, so the whole body may be.
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
        config: { scope: 'manage:own_credentials' },
        schema: {
          operationId: 'listCredentials',
          tags: ['merchant-credentials'],
          summary: 'Every key of the store, the revoked ones too. Never a key itself.',
          response: { 200: Type.Object({ credentials: Type.Array(ref(Credential)) }) },
        },
      },
      async ({ db }) => ({ credentials: await credentials.list(db) }),
    )

    app.post(
      '/v1/my/credentials',
      {
        config: {
          scope: 'manage:own_credentials',
          failures: ['unknown_scope', 'scope_escalation'],
        },
        schema: {
          operationId: 'createCredential',
          tags: ['merchant-credentials'],
          summary: 'Issue a key with no more scopes than your own. It is shown only here.',
          body: NewCredential,
          response: { 201: ref(IssuedCredential) },
        },
      },
      async ({ db, actor, merchant, body }, reply) => {
        const issued = await credentials.issue(db, { actor, ...merchant }, body)
        return reply.code(201).send(issued)
      },
    )

    app.get(
      '/v1/my/credentials/self',
      {
        config: { scope: 'any' },
        schema: {
          operationId: 'readOwnCredential',
          tags: ['merchant-credentials'],
          summary: 'The key you are calling with.',
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
          summary: 'Revoke a key, for good. Its next request is 401.',
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
