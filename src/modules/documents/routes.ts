import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import type { ErrorCode } from '../../error-codes.ts'
import type { App, Routes } from '../../http/route.ts'
import { signalOfClose } from '../../http/sockets.ts'
import { Params } from '../../kernel/schema.ts'
import type { Scope } from '../../kernel/scopes.ts'
import type { StoreDocument } from './schema.ts'
import * as documents from './service.ts'

/** A kind of document: where it is found, and who may read it. */
interface DocumentRoute {
  path: string
  scope: Scope
  tags: string[]
  /** Ends the ids of its operations, and the sentence that describes them. */
  name: string
  what: string
  failures: readonly ErrorCode[]
  read: (db: Db, id: string) => Promise<StoreDocument>
}

const DOCUMENTS: readonly DocumentRoute[] = [
  {
    path: '/v1/merchant/orders/:id/invoice',
    scope: 'read:own_orders',
    tags: ['merchant-orders'],
    name: 'Invoice',
    what: 'the invoice of an order, as the order is now',
    failures: ['order_not_found', 'order_not_placed'],
    read: documents.readInvoice,
  },
  {
    path: '/v1/merchant/fulfillments/:id/packing-slip',
    scope: 'manage:own_fulfillment',
    tags: ['merchant-commerce'],
    name: 'PackingSlip',
    what: 'the packing slip of a parcel',
    failures: ['fulfillment_not_found'],
    read: documents.readPackingSlip,
  },
]

const Pdf = Type.String({ format: 'binary' })

/** A PDF may show nothing but itself. */
const PDF_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Names the file of an answer. The name is made of numbers and letters of our own. */
const named = (reply: FastifyReply, name: string) =>
  reply.header('content-disposition', `inline; filename="${name}"`)

export const merchantRoutes =
  (deps: documents.DocumentDeps): Routes =>
  async (app) => {
    for (const each of DOCUMENTS) {
      addPage(app, deps, each)
      addPdf(app, deps, each)
    }
  }

function addPage(
  app: App,
  deps: documents.DocumentDeps,
  { path, scope, tags, name, what, failures, read }: DocumentRoute,
): void {
  app.get(
    `${path}.html`,
    {
      config: { scope, failures },
      schema: {
        operationId: `show${name}`,
        tags,
        summary: `Show ${what}: a page to print, in the store's brand and language.`,
        params: Params('id'),
        response: { 200: { content: { 'text/html': { schema: Type.String() } } } },
      },
    },
    async ({ db, params }, reply) => {
      const document = await read(db, params.id)
      const page = documents.showPage(deps, db, document)
      return named(reply, `${documents.fileNameOf(document)}.html`)
        .header('content-security-policy', page.contentSecurityPolicy)
        .header('referrer-policy', 'no-referrer')
        .type('text/html; charset=utf-8')
        .send(page.html as never)
    },
  )
}

function addPdf(
  app: App,
  deps: documents.DocumentDeps,
  { path, scope, tags, name, what, failures, read }: DocumentRoute,
): void {
  app.get(
    `${path}.pdf`,
    {
      config: { scope, failures },
      schema: {
        operationId: `print${name}`,
        tags,
        summary: `Print ${what}: a PDF of A4 pages, in the store's brand and language.`,
        params: Params('id'),
        response: { 200: { content: { 'application/pdf': { schema: Pdf } } } },
      },
    },
    async ({ db, params }, reply) => {
      const document = await read(db, params.id)
      const bytes = await documents.drawPdf(deps, db, document, signalOfClose(reply.raw))
      return named(reply, `${documents.fileNameOf(document)}.pdf`)
        .header('content-security-policy', PDF_POLICY)
        .type('application/pdf')
        .send(bytes as never)
    },
  )
}
