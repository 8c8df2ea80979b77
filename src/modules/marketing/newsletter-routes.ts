import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Database } from '../../db/database.ts'
import { FORM_PAGE, readForms } from '../../http/form-pages.ts'
import { sendPage } from '../../http/page.ts'
import type { Routes } from '../../http/route.ts'
import { type Html, html } from '../../kernel/html.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { callerOf } from '../../platform/limits.ts'
import * as stores from '../stores/service.ts'
import * as newsletter from './newsletter.ts'
import { exportCsv } from './newsletter-export.ts'
import { SUBSCRIBER_STATES, Subscriber, WantedNewsletter } from './newsletter-schema.ts'
import { textsIn } from './newsletter-texts.ts'

const tags = ['merchant-ops']
const scope = 'manage:own_marketing' as const
const path = '/v1/merchant/marketing/subscribers'

export const storefrontRoutes =
  (deps: newsletter.NewsletterDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/tenants/:tenant/newsletter',
      {
        config: { failures: ['unknown_tenant', 'rate_limited'] },
        schema: {
          operationId: 'requestNewsletter',
          tags: ['checkout'],
          summary:
            "Ask for the store's newsletter. A link is mailed, and the address is on the list once it is confirmed. The answer is the same for an address that is on it.",
          params: Params('tenant'),
          body: WantedNewsletter,
          response: { 202: Type.Object({ accepted: Type.Boolean() }) },
        },
      },
      async ({ db, ip, body }, reply) => {
        await newsletter.subscribe(deps, db, callerOf(ip), body)
        return reply.code(202).send({ accepted: true })
      },
    )
  }

export const merchantRoutes =
  (deps: newsletter.NewsletterDeps): Routes =>
  async (app) => {
    app.get(
      path,
      {
        config: {
          scope,
          query: {
            status: Type.Enum(SUBSCRIBER_STATES),
            email: Type.String({ description: 'The whole address, in any case.' }),
            ...PAGE_QUERY,
          },
        },
        schema: {
          operationId: 'listNewsletterSubscribers',
          tags,
          summary: 'List who asked for the newsletter, newest first.',
          response: { 200: PageOf('subscribers', ref(Subscriber)) },
        },
      },
      ({ db, query }) => {
        const status = readOneOf(query, 'status', SUBSCRIBER_STATES)
        return newsletter.list(db, { status, email: readText(query, 'email') }, readPage(query))
      },
    )

    app.get(
      `${path}/export.csv`,
      {
        config: { scope, query: { status: Type.Enum(SUBSCRIBER_STATES) } },
        schema: {
          operationId: 'exportNewsletterSubscribers',
          tags,
          summary:
            'Export subscribers as CSV, by default those who confirmed, each with a link to unsubscribe.',
          response: { 200: { content: { 'text/csv': { schema: Type.String() } } } },
        },
      },
      async ({ db, query }, reply) => {
        const status = readOneOf(query, 'status', SUBSCRIBER_STATES) ?? 'subscribed'
        return reply
          .header('content-type', 'text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="subscribers.csv"')
          .header('cache-control', 'no-store')
          .send(Readable.from(exportCsv(deps, db, status)) as never)
      },
    )

    app.post(
      `${path}/:id/unsubscribe`,
      {
        config: { scope, failures: ['subscriber_not_found'] },
        schema: {
          operationId: 'unsubscribeNewsletter',
          tags,
          summary: 'Take a reader off the list. Only readers can put themselves on it.',
          params: Params('id'),
          response: { 200: Type.Object({ subscriber: ref(Subscriber) }) },
        },
      },
      async ({ db, actor, params }) => ({
        subscriber: await newsletter.unsubscribe(db, actor, params.id),
      }),
    )
  }

/** The pages that mails to readers lead to. */
export const pageRoutes =
  (database: Database, deps: newsletter.NewsletterDeps): Routes =>
  async (app) => {
    // In a scope of their own: no route of the API reads forms.
    await app.register(async (pages) => {
      readForms(pages)
      for (const [address, purpose] of [
        ['/v1/newsletter/:token', 'confirm'],
        ['/v1/unsubscribe/:token', 'unsubscribe'],
      ] as const) {
        pages.get(address, FORM_PAGE, async ({ params }, reply) => {
          const opened = await openPage(database, deps, (params as Token).token)
          if (opened?.purpose !== purpose) return sendEnded(reply)
          const { texts, store } = opened
          const isConfirm = purpose === 'confirm'
          const ask = isConfirm ? texts.ask(store) : texts.askLeave(store)
          const form = html`<form method="post"><p>${ask}</p><button>${isConfirm ? texts.confirm : texts.leave}</button></form>`
          return send(reply, opened, form)
        })

        pages.post(address, FORM_PAGE, async ({ params }, reply) => {
          const opened = await openPage(database, deps, (params as Token).token)
          if (opened?.purpose !== purpose) return sendEnded(reply)
          if ((await newsletter.act(opened.db, opened)) === null) return sendEnded(reply)
          const { texts, store } = opened
          return send(
            reply,
            opened,
            purpose === 'unsubscribe'
              ? html`<p>${texts.left(store)}</p>`
              : html`<p>${texts.confirmed(store)}</p><p><a href="${newsletter.unsubscribeUrl(deps, opened.db, opened.id)}">${texts.leave}</a></p>`,
          )
        })
      }
    })
  }

interface Token {
  token: string
}

/** What a page of a token shows. Null where the token or its store is no longer valid. */
async function openPage(database: Database, deps: newsletter.NewsletterDeps, token: string) {
  const opened = newsletter.open(deps, token)
  if (opened === null) return null
  const db = database.tenant(opened.tenant)
  if (opened.expires !== null && opened.expires < db.clock.now()) return null
  const store = await stores.find(db)
  if (store === null) return null
  const { language, display_name } = store
  return { ...opened, db, language, store: display_name, texts: textsIn(language) }
}

type OpenedPage = NonNullable<Awaited<ReturnType<typeof openPage>>>

const send = (reply: FastifyReply, { texts, language }: OpenedPage, body: Html) =>
  sendPage(reply, { title: texts.title, body, isForm: true, language: language.split('-')[0] })

/** Whose link it was is not known, so that it is told in English. */
function sendEnded(reply: FastifyReply) {
  const { title, ended } = textsIn('en')
  return sendPage(reply.code(404), { title, body: html`<p>${ended}</p>`, isForm: true })
}
