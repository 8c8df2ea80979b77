import { Type } from 'typebox'
import type { AllStores, Database } from '../../db/database.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText, readTimestamp } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { NewStore, OwnerChange, StatusChange, Store, StorePatch, StoreStatus } from './schema.ts'
import * as stores from './service.ts'

const OneStore = Type.Object({ store: ref(Store) })

const AUDIT_QUERY = {
  actor: Type.String(),
  action: Type.String(),
  from: Type.String({ format: 'date-time' }),
  to: Type.String({ format: 'date-time' }),
  ...PAGE_QUERY,
}
const AuditPage = PageOf('entries', ref(audit.AuditEntry))

const readAuditFilters = (query: unknown): audit.AuditFilters => ({
  actor: readText(query, 'actor'),
  action: readText(query, 'action'),
  from: readTimestamp(query, 'from'),
  to: readTimestamp(query, 'to'),
})

export const merchantRoutes: Routes = async (app) => {
  app.patch(
    '/v1/my/store',
    {
      config: { scope: 'write:own_store', failures: ['currency_fixed'] },
      schema: {
        operationId: 'changeMyStore',
        tags: ['merchant-ops'],
        summary: "Change the store's name, currency, language, time zone or stock hint.",
        body: StorePatch,
        response: { 200: OneStore },
      },
    },
    async ({ db, actor, body }) => ({ store: await stores.updateSettings(db, actor, body) }),
  )

  app.get(
    '/v1/my/audit',
    {
      config: { scope: 'read:own_store', query: AUDIT_QUERY },
      schema: {
        operationId: 'listMyAudit',
        tags: ['merchant-ops'],
        summary: 'List the audit trail of the store, newest first.',
        response: { 200: AuditPage },
      },
    },
    ({ db, query }) => audit.listOfStore(db, readAuditFilters(query), readPage(query)),
  )
}

export const operatorRoutes =
  ({ database, operator }: { database: Database; operator: AllStores }): Routes =>
  async (app) => {
    app.post(
      '/v1/stores',
      {
        config: { failures: ['tenant_exists'] },
        schema: {
          operationId: 'createStore',
          tags: ['operator'],
          summary: 'Create a store, as a draft.',
          body: NewStore,
          response: { 201: OneStore },
        },
      },
      async ({ actor, body }, reply) => {
        const store = await stores.create(database, actor, body)
        return reply.code(201).send({ store })
      },
    )

    app.get(
      '/v1/stores',
      {
        config: {
          query: {
            status: StoreStatus,
            q: Type.String(),
            owner_email: Type.String(),
            ...PAGE_QUERY,
          },
        },
        schema: {
          operationId: 'listStores',
          tags: ['operator'],
          summary: 'List all stores, newest first.',
          response: { 200: PageOf('stores', ref(Store)) },
        },
      },
      ({ query }) =>
        stores.list(
          operator,
          {
            status: readOneOf(query, 'status', ['draft', 'live', 'suspended']),
            q: readText(query, 'q'),
            owner_email: readText(query, 'owner_email'),
          },
          readPage(query),
        ),
    )

    await operatorChangeRoutes(app)

    await operatorAuditRoutes(operator)(app)
  }

const operatorChangeRoutes: Routes = async (app) => {
  app.put(
    '/v1/stores/:tenant/status',
    {
      config: { failures: ['unknown_tenant', 'no_active_version'] },
      schema: {
        operationId: 'setStoreStatus',
        tags: ['operator'],
        summary: 'Set the status of a store: live, suspended or draft.',
        params: Params('tenant'),
        body: StatusChange,
        response: { 200: OneStore },
      },
    },
    async ({ db, actor, body }) => ({ store: await stores.setStatus(db, actor, body) }),
  )

  app.put(
    '/v1/stores/:tenant/owner',
    {
      config: { failures: ['unknown_tenant'] },
      schema: {
        operationId: 'setStoreOwner',
        tags: ['operator'],
        summary: "Set the e-mail address of the store's owner.",
        params: Params('tenant'),
        body: OwnerChange,
        response: { 200: OneStore },
      },
    },
    async ({ db, actor, body }) => ({ store: await stores.setOwner(db, actor, body.email) }),
  )
}

const operatorAuditRoutes =
  (operator: AllStores): Routes =>
  async (app) => {
    app.get(
      '/v1/stores/:tenant/audit',
      {
        config: { failures: ['unknown_tenant'], query: AUDIT_QUERY },
        schema: {
          operationId: 'listStoreAudit',
          tags: ['operator'],
          summary: 'List the audit trail of one store, newest first.',
          params: Params('tenant'),
          response: { 200: AuditPage },
        },
      },
      ({ db, query }) => audit.listOfStore(db, readAuditFilters(query), readPage(query)),
    )

    app.get(
      '/v1/audit',
      {
        config: { query: { tenant_ref: Type.String(), ...AUDIT_QUERY } },
        schema: {
          operationId: 'listAudit',
          tags: ['operator'],
          summary: 'List the audit trail of all stores, newest first.',
          response: { 200: AuditPage },
        },
      },
      ({ query }) => {
        const filters = { ...readAuditFilters(query), tenant_ref: readText(query, 'tenant_ref') }
        return audit.listOfAll(operator, filters, readPage(query))
      },
    )
  }
