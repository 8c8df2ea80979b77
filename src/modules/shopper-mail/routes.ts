import { Type } from 'typebox'
import type { AllStores } from '../../db/database.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readId, readOneOf, readText } from '../../kernel/query.ts'
import { Id, PageOf, Params, ref } from '../../kernel/schema.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import type { MailDeps } from './compose.ts'
import {
  MAIL_KINDS,
  MAIL_LANGUAGES,
  MAIL_STATES,
  MailContent,
  MailKind,
  MailPreview,
  MailSettings,
  MailSettingsChange,
  MailState,
  OperatorMail,
  Resend,
  ShopperMail,
} from './schema.ts'
import * as shopperMail from './service.ts'

const FILTERS = { kind: MailKind, state: MailState }

const readFilters = (query: unknown) => ({
  kind: readOneOf(query, 'kind', MAIL_KINDS),
  state: readOneOf(query, 'state', MAIL_STATES),
})

const settingsRoutes: Routes = async (app) => {
  app.get(
    '/v1/my/store/mails',
    {
      config: { scope: 'read:own_store' },
      schema: {
        operationId: 'readMailSettings',
        tags: ['merchant-ops'],
        summary: 'Read which mails the store sends to its shoppers.',
        response: { 200: MailSettings },
      },
    },
    ({ db }) => shopperMail.readSettings(db),
  )

  app.put(
    '/v1/my/store/mails',
    {
      config: { scope: 'write:own_store' },
      schema: {
        operationId: 'setMailSettings',
        tags: ['merchant-ops'],
        summary:
          'Switch kinds of mail to shoppers on or off. A mail of a kind that is off is skipped, also if it waits already.',
        body: MailSettingsChange,
        response: { 200: MailSettings },
      },
    },
    ({ db, actor, body }) => shopperMail.changeSettings(db, actor, body),
  )
}

export const merchantRoutes =
  ({ limits, ...deps }: MailDeps & { limits: Pick<Limits, 'velocity'> }): Routes =>
  async (app) => {
    await settingsRoutes(app)

    app.get(
      '/v1/merchant/mails',
      {
        config: { scope: 'read:own_orders', query: { ...FILTERS, order_id: Id, ...PAGE_QUERY } },
        schema: {
          operationId: 'listMails',
          tags: ['merchant-commerce'],
          summary:
            'List the mails to shoppers, newest first: sent, waiting, skipped and dead ones.',
          response: { 200: PageOf('mails', ref(ShopperMail)) },
        },
      },
      ({ db, query }) =>
        shopperMail.list(
          db,
          { ...readFilters(query), order_id: readId(query, 'order_id') },
          readPage(query),
        ),
    )

    app.get(
      '/v1/merchant/mails/preview',
      {
        config: {
          scope: 'read:own_orders',
          query: {
            kind: Type.Enum(MAIL_KINDS, { default: 'order_placed' }),
            order_id: Id,
            language: Type.Enum(MAIL_LANGUAGES, {
              description: "Left out: the store's language, or English.",
            }),
          },
          failures: ['order_not_found'],
        },
        schema: {
          operationId: 'previewMail',
          tags: ['merchant-commerce'],
          summary:
            'Preview a kind of mail as the store would send it, with an order of the store or with a made-up one. The preview has no working link and no code of a gift card.',
          response: { 200: MailPreview },
        },
      },
      ({ db, query }) =>
        shopperMail.preview(deps, db, {
          kind: readFilters(query).kind ?? 'order_placed',
          language: readOneOf(query, 'language', MAIL_LANGUAGES),
          order_id: readId(query, 'order_id'),
        }),
    )

    app.get(
      '/v1/merchant/mails/:id',
      {
        config: { scope: 'read:own_orders', failures: ['mail_not_found'] },
        schema: {
          operationId: 'readMail',
          tags: ['merchant-commerce'],
          summary:
            'Read a mail to a shopper as it was last sent, as HTML and text, without links and codes that act for the shopper. One that was not sent is written anew.',
          params: Params('id'),
          response: { 200: MailContent },
        },
      },
      ({ db, params }) => shopperMail.readContent(deps, db, params.id),
    )

    app.post(
      '/v1/merchant/mails/:id/resend',
      {
        config: {
          scope: 'manage:own_orders',
          failures: ['mail_not_found', 'invalid_transition', 'limit_reached', 'rate_limited'],
        },
        schema: {
          operationId: 'resendMail',
          tags: ['merchant-commerce'],
          summary:
            'Send a mail again, at most five times, also to another address. It is written anew, as the order is now.',
          params: Params('id'),
          body: Resend,
          response: { 202: Type.Object({ mail: ref(ShopperMail) }) },
        },
        preValidation: async (request) => {
          request.body ??= {}
        },
      },
      async ({ db, actor, params, body }, reply) => {
        const to = body.to ?? null
        const mail = await shopperMail.resend(limits, db, actor, { id: params.id, to })
        return reply.code(202).send({ mail })
      },
    )
  }

export const operatorRoutes =
  (operator: AllStores): Routes =>
  async (app) => {
    app.get(
      '/v1/mails',
      {
        config: { query: { tenant_ref: Type.String(), ...FILTERS, ...PAGE_QUERY } },
        schema: {
          operationId: 'listAllMails',
          tags: ['operator'],
          summary:
            'List the mails to shoppers of all stores, newest first, without their texts and with most of each address left out.',
          response: { 200: PageOf('mails', ref(OperatorMail)) },
        },
      },
      ({ query }) =>
        shopperMail.listOfAll(
          operator,
          { ...readFilters(query), tenant_ref: readText(query, 'tenant_ref') },
          readPage(query),
        ),
    )
  }
