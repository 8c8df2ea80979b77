import { Type } from 'typebox'
import type { AllStores, Database } from '../../db/database.ts'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf } from '../../kernel/query.ts'
import { Nullable, PageOf, Params, ref } from '../../kernel/schema.ts'
import { Issuer, IssuerChange, NewPlan, Plan, PlanChoice } from './plan-schema.ts'
import * as plans from './plans.ts'
import {
  Charge,
  CreditNote,
  INVOICE_STATUSES,
  Invoice,
  InvoiceStatus,
  InvoiceSummary,
  MyPlan,
  NewCharge,
  NewCreditNote,
  NewPayment,
  Payment,
  StoreInvoice,
} from './schema.ts'
import * as billing from './service.ts'
import * as settle from './settle.ts'

export interface OperatorDeps {
  operator: AllStores
  database: Database
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

const tags = ['operator']
const url = '/v1/stores/:tenant/billing'

export const operatorRoutes =
  (deps: OperatorDeps): Routes =>
  async (app) => {
    await issuerRoutes(deps)(app)
    await planRoutes(deps)(app)
    await storeRoutes(app)
    await chargeRoutes(deps)(app)
    await settleRoutes(deps)(app)
  }

const issuerRoutes =
  ({ database, operator }: OperatorDeps): Routes =>
  async (app) => {
    app.get(
      '/v1/billing/issuer',
      {
        config: {},
        schema: {
          operationId: 'readBillingIssuer',
          tags,
          summary: 'Read the issuer of the invoices. `null`: not set yet.',
          response: { 200: Type.Object({ issuer: Nullable(ref(Issuer)) }) },
        },
      },
      () => plans.findIssuer(operator),
    )

    app.put(
      '/v1/billing/issuer',
      {
        config: {},
        schema: {
          operationId: 'setBillingIssuer',
          tags,
          summary:
            'Set the issuer of the invoices, when they are due and their reminders. Issued invoices do not change.',
          body: IssuerChange,
          response: { 200: Type.Object({ issuer: ref(Issuer) }) },
        },
      },
      ({ body }) => plans.setIssuer(database.directory, body),
    )

    app.get(
      '/v1/billing/invoices',
      {
        config: { query: { status: InvoiceStatus, ...PAGE_QUERY } },
        schema: {
          operationId: 'listAllBillingInvoices',
          tags,
          summary: 'List the invoices of all stores, newest first.',
          response: { 200: PageOf('invoices', StoreInvoice) },
        },
      },
      ({ query }) =>
        billing.listAllInvoices(
          operator,
          readOneOf(query, 'status', INVOICE_STATUSES),
          readPage(query),
        ),
    )
  }

const planRoutes =
  ({ database, operator }: OperatorDeps): Routes =>
  async (app) => {
    app.get(
      '/v1/billing/plans',
      {
        config: { query: PAGE_QUERY },
        schema: {
          operationId: 'listBillingPlans',
          tags,
          summary: 'List all versions of all plans, newest first.',
          response: { 200: PageOf('plans', ref(Plan)) },
        },
      },
      ({ query }) => plans.listPlans(operator, readPage(query)),
    )

    app.post(
      '/v1/billing/plans',
      {
        config: { failures: ['plan_changed'] },
        schema: {
          operationId: 'addBillingPlan',
          tags,
          summary: 'Add a plan, or the next version of one. Stores keep the version they have.',
          body: NewPlan,
          response: { 201: Type.Object({ plan: ref(Plan) }) },
        },
      },
      async ({ actor, body }, reply) =>
        reply.code(201).send(await plans.addPlan(database.directory, actor, body)),
    )

    app.put(
      `${url}/plan`,
      {
        config: {
          failures: ['unknown_tenant', 'plan_not_found', 'plan_currency', 'issuer_missing'],
        },
        schema: {
          operationId: 'setStoreBillingPlan',
          tags,
          summary: 'Set the plan of a store from today on, and with it the tier.',
          params: Params('tenant'),
          body: PlanChoice,
          response: { 200: ref(MyPlan) },
        },
      },
      ({ db, actor, body }) => plans.setPlan(db, actor, body),
    )
  }

const storeRoutes: Routes = async (app) => {
  app.get(
    `${url}/plan`,
    {
      config: { failures: ['unknown_tenant'] },
      schema: {
        operationId: 'readStoreBillingPlan',
        tags,
        summary: 'Read the plan of a store and its history.',
        params: Params('tenant'),
        response: { 200: ref(MyPlan) },
      },
    },
    ({ db }) => billing.readPlan(db),
  )

  app.get(
    `${url}/invoices`,
    {
      config: { failures: ['unknown_tenant'], query: { status: InvoiceStatus, ...PAGE_QUERY } },
      schema: {
        operationId: 'listStoreBillingInvoices',
        tags,
        summary: 'List the invoices of a store, newest first.',
        params: Params('tenant'),
        response: { 200: PageOf('invoices', ref(InvoiceSummary)) },
      },
    },
    ({ db, query }) =>
      billing.listInvoices(db, readOneOf(query, 'status', INVOICE_STATUSES), readPage(query)),
  )

  app.get(
    `${url}/invoices/:id`,
    {
      config: { failures: ['unknown_tenant', 'invoice_not_found'] },
      schema: {
        operationId: 'readStoreBillingInvoice',
        tags,
        summary: 'Read an invoice of a store.',
        params: Params('tenant', 'id'),
        response: { 200: Type.Object({ invoice: ref(Invoice) }) },
      },
    },
    async ({ db, params }) => ({ invoice: await billing.getInvoice(db, params.id) }),
  )
}

const chargeRoutes =
  ({ idempotencyKey: secret }: OperatorDeps): Routes =>
  async (app) => {
    app.post(
      `${url}/charges`,
      {
        config: {
          idempotent: true,
          failures: ['unknown_tenant', 'sandbox_not_billed', 'issuer_missing', 'invoice_full'],
        },
        schema: {
          operationId: 'chargeStore',
          tags,
          summary: 'Charge a store once: adds a line to the draft invoice of the current month.',
          params: Params('tenant'),
          body: NewCharge,
          response: { 201: Type.Object({ charge: Charge }) },
        },
      },
      (request, reply) => {
        const { db, actor, body } = request
        // Both refusals may no longer apply a minute later, and the key can be used then.
        const passing = ['issuer_missing', 'sandbox_not_billed'] as const
        return once(request, reply, { operation: 'billing_charge', secret, passing }, (claim) =>
          settle.charge(db, { actor, claim }, body),
        )
      },
    )
  }

const settleRoutes =
  ({ idempotencyKey: secret }: OperatorDeps): Routes =>
  async (app) => {
    app.post(
      `${url}/invoices/:id/payments`,
      {
        config: {
          idempotent: true,
          failures: [
            'unknown_tenant',
            'invoice_not_found',
            'invoice_not_issued',
            'amount_exceeds_balance',
          ],
        },
        schema: {
          operationId: 'recordBillingPayment',
          tags,
          summary:
            'Record that a store has paid an invoice, in whole or in part. Reminders end when nothing is owed.',
          params: Params('tenant', 'id'),
          body: NewPayment,
          response: { 201: Type.Object({ payment: Payment, invoice: ref(Invoice) }) },
        },
      },
      (request, reply) => {
        const { db, actor, params, body } = request
        const options = { operation: 'billing_payment', secret, target: params.id }
        return once(request, reply, options, (claim) =>
          settle.recordPayment(db, { actor, claim }, params.id, body),
        )
      },
    )

    app.post(
      `${url}/invoices/:id/credit-notes`,
      {
        config: {
          idempotent: true,
          failures: [
            'unknown_tenant',
            'invoice_not_found',
            'invoice_not_issued',
            'amount_exceeds_invoice',
          ],
        },
        schema: {
          operationId: 'creditBillingInvoice',
          tags,
          summary: 'Credit an issued invoice, in whole or in part. This is the only correction.',
          params: Params('tenant', 'id'),
          body: NewCreditNote,
          response: { 201: Type.Object({ credit_note: CreditNote, invoice: ref(Invoice) }) },
        },
      },
      (request, reply) => {
        const { db, actor, params, body } = request
        const options = { operation: 'billing_credit', secret, target: params.id }
        return once(request, reply, options, (claim) =>
          settle.credit(db, { actor, claim }, params.id, body),
        )
      },
    )
  }
