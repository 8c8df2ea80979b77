import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Database } from '../../db/database.ts'
import { FORM_PAGE, readForms } from '../../http/form-pages.ts'
import { sendPage } from '../../http/page.ts'
import type { App, Routes } from '../../http/route.ts'
import { type Html, html } from '../../kernel/html.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { callerOf } from '../../platform/rate-limits.ts'
import { loadStoreLook } from '../sites/mail-look.ts'
import * as stores from '../stores/service.ts'
import { unsubscribeUrl } from './consent.ts'
import * as newsletter from './newsletter.ts'
import { exportCsv } from './newsletter-export.ts'
import { NewsletterRequest, SUBSCRIBER_STATES, Subscriber } from './newsletter-schema.ts'
import { acceptedLanguage, languageOf, textsIn } from './newsletter-texts.ts'

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
          body: NewsletterRequest,
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
          summary: 'List the readers of the newsletter, newest first.',
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
          summary: 'Unsubscribe a reader. Only the reader can subscribe again.',
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
    // Each group has a scope of its own, because no route of the API reads forms.
    await app.register(async (pages) => {
      readForms(pages)
      addConfirmation(pages, database, deps)
    })
    await app.register(async (pages) => {
      readAnyForm(pages)
      addLeaving(pages, database, deps)
    })
  }

function addConfirmation(pages: App, database: Database, deps: newsletter.NewsletterDeps): void {
  const path = '/v1/newsletter/:token'

  pages.get(path, FORM_PAGE, async ({ params }, reply) => {
    const opened = newsletter.open(deps, (params as Token).token)
    const page = await openPage(database, deps, opened, 'confirm')
    if (page === null || page.isOver) return sendEnded(reply, page, 'ended')
    return send(reply, page, buttonWith(page.texts.ask(page), page.texts.confirm))
  })

  pages.post(path, FORM_PAGE, async ({ params, ip }, reply) => {
    const opened = newsletter.open(deps, (params as Token).token)
    const page = await openPage(database, deps, opened, 'confirm')
    if (page === null || page.isOver || opened?.purpose !== 'confirm')
      return sendEnded(reply, page, 'ended')
    const { db, texts, store, language } = page
    const text = newsletter.shownText(language, store)
    const reader = await newsletter.confirm(db, opened, { text, ip })
    if (reader === null) return sendEnded(reply, page, 'ended')
    const leave = unsubscribeUrl(deps, db, reader.email)
    return send(
      reply,
      page,
      html`<p>${texts.confirmed({ store })}</p><p><a href="${leave}">${texts.leave}</a></p>`,
    )
  })
}

/**
 * Adds the routes of the links to leave. A mail program presses the button itself (RFC 8058), so that they answer
 * at once, with no cookie, page or redirect in between.
 */
function addLeaving(pages: App, database: Database, deps: newsletter.NewsletterDeps): void {
  const path = '/v1/unsubscribe/:token'
  // A link and a form stay usable, whatever random digits they contain: none of them is stored.
  const page = { config: { ...FORM_PAGE.config, acceptsAnyDigits: true } }

  pages.get(path, page, async ({ params }, reply) => {
    const opened = newsletter.open(deps, (params as Token).token)
    const shown = await openPage(database, deps, opened, 'unsubscribe')
    if (shown === null) return sendEnded(reply, null, 'leaveEnded')
    return send(reply, shown, buttonWith(shown.texts.askLeave(shown), shown.texts.leave))
  })

  pages.post(path, page, async ({ params, ip, body }, reply) => {
    const opened = newsletter.open(deps, (params as Token).token)
    const shown = await openPage(database, deps, opened, 'unsubscribe')
    if (shown === null || opened?.purpose !== 'unsubscribe')
      return sendEnded(reply, null, 'leaveEnded')
    const source = isOneClick(body) ? 'one_click' : 'link'
    if ((await newsletter.leave(shown.db, opened, { source, ip })) === null) {
      return sendEnded(reply, shown, 'leaveEnded')
    }
    return send(reply, shown, html`<p>${shown.texts.left(shown)}</p>`)
  })
}

const buttonWith = (question: string, button: string): Html =>
  html`<form method="post"><p>${question}</p><button>${button}</button></form>`

const FORM_BYTES_MAX = 8_192

/**
 * Reads a form of any type, as text. Mail programs send `multipart/form-data` or `x-www-form-urlencoded`,
 * and some no type at all. The link alone allows to leave: there is no other check before it, and no cookie
 * that another site could use.
 */
function readAnyForm(pages: App): void {
  pages.removeAllContentTypeParsers()
  pages.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: FORM_BYTES_MAX },
    async (_: FastifyRequest, bytes: Buffer) => bytes,
  )
}

const isOneClick = (body: unknown): boolean =>
  Buffer.isBuffer(body) && /List-Unsubscribe\b[\s\S]*One-Click/i.test(body.toString('latin1'))

interface Token {
  token: string
}

/** Returns what the page of a token needs; null if the token is not of this purpose, or its store does not exist. */
async function openPage(
  database: Database,
  deps: newsletter.NewsletterDeps,
  opened: newsletter.Opened | null,
  purpose: newsletter.Opened['purpose'],
) {
  if (opened?.purpose !== purpose) return null
  const db = database.tenantForOwnWork(opened.tenant)
  const store = await stores.find(db)
  if (store === null) return null
  const { language } = store
  const look = await loadStoreLook(deps, db, store)
  const expires = opened.purpose === 'confirm' ? opened.expires : null
  const isOver = expires !== null && expires < db.clock.now()
  return { db, language, look, isOver, store: look.name, texts: textsIn(language) }
}

type OpenedPage = NonNullable<Awaited<ReturnType<typeof openPage>>>

const send = (reply: FastifyReply, { texts, language, look }: OpenedPage, body: Html) =>
  sendPage(reply, {
    title: texts.title,
    body,
    isForm: true,
    language: languageOf(language),
    brand: look,
  })

/**
 * Sends the page of a link that cannot be used. Where its store is not known, the page is the platform's, in the
 * language of the browser: links lead to the platform's host, which names no store.
 */
function sendEnded(reply: FastifyReply, page: OpenedPage | null, text: 'ended' | 'leaveEnded') {
  if (page !== null) return send(reply.code(404), page, html`<p>${page.texts[text]}</p>`)
  const language = acceptedLanguage(reply.request.headers['accept-language'])
  const texts = textsIn(language)
  const body = html`<p>${texts[text]}</p>`
  reply.header('vary', 'accept-language')
  return sendPage(reply.code(404), { title: texts.title, body, isForm: true, language })
}
