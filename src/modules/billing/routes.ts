import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { signalOfClose } from '../../http/sockets.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, Pattern, ref } from '../../kernel/schema.ts'
import { PERIOD, parsePeriod } from './months.ts'
import { Plan } from './plan-schema.ts'
import {
  INVOICE_STATUSES,
  Invoice,
  InvoiceStatus,
  InvoiceSummary,
  MyPlan,
  Preview,
  Usage,
} from './schema.ts'
import * as billing from './service.ts'

const scope = 'read:own_billing'
const tags = ['merchant-ops']
const url = '/v1/merchant/billing'

/**
 * Registers the routes by which a merchant reads billing. The routes that bill are the operator's
 * (`operator-routes.ts`).
 */
export const merchantRoutes =
  (deps: billing.PdfDeps): Routes =>
  async (app) => {
    app.get(
      `${url}/plan`,
      {
        config: { scope },
        schema: {
          operationId: 'readBillingPlan',
          tags,
          summary: "Read the store's plan, its history and the add-ons, which are never billed.",
          response: { 200: ref(MyPlan) },
        },
      },
      ({ db }) => billing.readPlan(db),
    )

    app.get(
      `${url}/plans`,
      {
        config: { scope },
        schema: {
          operationId: 'listOfferedPlans',
          tags,
          summary: 'List the newest version of each plan that is offered to every store.',
          response: { 200: Type.Object({ plans: Type.Array(ref(Plan)) }) },
        },
      },
      ({ db }) => billing.listPlans(db),
    )

    await usageRoutes(app)
    await invoiceRoutes(app)
    await pdfRoutes(deps)(app)
  }

/** A version of a plan as a query names it. Null: the newest. */
function readVersion(query: unknown): number | null {
  const version = Number(readText(query, 'version'))
  return Number.isInteger(version) && version > 0 && version <= 2_147_483_647 ? version : null
}

const usageRoutes: Routes = async (app) => {
  app.get(
    `${url}/usage`,
    {
      config: {
        scope,
        query: {
          period: Pattern(PERIOD.source, 'must be a month, as YYYY-MM', {
            description: 'A month of UTC, as YYYY-MM. Absent: this month.',
          }),
        },
      },
      schema: {
        operationId: 'readBillingUsage',
        tags,
        summary: 'Read what the store has used in a month, and the facts that it is counted from.',
        response: { 200: ref(Usage) },
      },
    },
    ({ db, query }) => billing.readUsage(db, parsePeriod(readText(query, 'period') ?? '')),
  )

  app.get(
    `${url}/preview`,
    {
      config: {
        scope,
        failures: ['plan_not_found'],
        query: {
          plan: Type.String({ description: 'The key of another plan, to compare with.' }),
          version: Type.Integer({ minimum: 1, description: 'Its version. Absent: the newest.' }),
        },
      },
      schema: {
        operationId: 'previewBilling',
        tags,
        summary:
          'Preview the cost of this month at the present rate of use, and with another plan.',
        response: { 200: ref(Preview) },
      },
    },
    ({ db, query }) => {
      const key = readText(query, 'plan')
      return billing.preview(db, key === undefined ? null : { key, version: readVersion(query) })
    },
  )
}

const invoiceRoutes: Routes = async (app) => {
  app.get(
    `${url}/invoices`,
    {
      config: { scope, query: { status: InvoiceStatus, ...PAGE_QUERY } },
      schema: {
        operationId: 'listBillingInvoices',
        tags,
        summary: 'List the invoices of the store, newest first.',
        response: { 200: PageOf('invoices', ref(InvoiceSummary)) },
      },
    },
    ({ db, query }) =>
      billing.listInvoices(db, readOneOf(query, 'status', INVOICE_STATUSES), readPage(query)),
  )

  app.get(
    `${url}/invoices/:id`,
    {
      config: { scope, failures: ['invoice_not_found'] },
      schema: {
        operationId: 'readBillingInvoice',
        tags,
        summary: 'Read an invoice with its lines, payments, credit notes and reminders.',
        params: Params('id'),
        response: { 200: Type.Object({ invoice: ref(Invoice) }) },
      },
    },
    async ({ db, params }) => ({ invoice: await billing.getInvoice(db, params.id) }),
  )
}

const Pdf = Type.String({ format: 'binary' })

/** A PDF may show nothing but itself. */
const PDF_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Sends a PDF. Its name needs no escaping: it is made of numbers and letters of our own. */
const sendPdf = (reply: FastifyReply, { name, bytes }: { name: string; bytes: Buffer }) =>
  reply
    .header('content-disposition', `inline; filename="${name}.pdf"`)
    .header('content-security-policy', PDF_POLICY)
    .type('application/pdf')
    .send(bytes as never)

const pdfRoutes =
  (deps: billing.PdfDeps): Routes =>
  async (app) => {
    app.get(
      `${url}/invoices/:id.pdf`,
      {
        config: { scope, failures: ['invoice_not_found'] },
        schema: {
          operationId: 'printBillingInvoice',
          tags,
          summary: 'Print an invoice: a PDF of A4 pages. A draft says that it is one.',
          params: Params('id'),
          response: { 200: { content: { 'application/pdf': { schema: Pdf } } } },
        },
      },
      async ({ db, params }, reply) =>
        sendPdf(reply, await billing.drawInvoice(deps, db, params.id, signalOfClose(reply.raw))),
    )

    app.get(
      `${url}/credit-notes/:id.pdf`,
      {
        config: { scope, failures: ['credit_note_not_found'] },
        schema: {
          operationId: 'printCreditNote',
          tags,
          summary: 'Print a credit note: a PDF of A4 pages.',
          params: Params('id'),
          response: { 200: { content: { 'application/pdf': { schema: Pdf } } } },
        },
      },
      async ({ db, params }, reply) =>
        sendPdf(reply, await billing.drawCreditNote(deps, db, params.id, signalOfClose(reply.raw))),
    )
  }
