import { ApiError } from './errors.ts'
import { sendPage } from './http/page.ts'
import type { App } from './http/route.ts'
import { type Html, html } from './kernel/html.ts'
import { isUuid } from './kernel/schema.ts'
import { openShopperMail } from './modules/shopper-mail/open.ts'
import * as shopperMail from './modules/shopper-mail/service.ts'
import { findHtml, listLatest } from './platform/mail.ts'
import type { Runtime } from './runtime.ts'

/**
 * The pages that show the mails of a development machine, sent or not. Mails contain tokens and codes, so production
 * has no such pages.
 */

const MAILS_MAX = 50
const SHOPPER_MAILS_MAX = 20

/**
 * The policy of a mail's HTML, which contains texts of merchants and shoppers: it runs no script, has an origin of its
 * own, and only our page may show it.
 */
const FRAMED_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src http: https: data:',
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "frame-ancestors 'self'",
].join('; ')

export function addMailPages(app: App, runtime: Runtime): void {
  const operator = runtime.operatorDatabase.allStores
  const deps = openShopperMail(runtime)
  const show = (mail: shopperMail.NewestMail) =>
    shopperMail.showMail(deps, runtime.database.tenant(mail.tenant_ref), mail)

  app.get('/dev/mail', { config: { hidden: true } }, async (_, reply) => {
    const [toShoppers, others] = await Promise.all([
      shopperMail.listNewest(operator, SHOPPER_MAILS_MAX),
      listLatest(operator, MAILS_MAX),
    ])
    const shown = await Promise.all(
      toShoppers.map(async (mail) => ({
        at: mail.created_at,
        article: describeShopperMail(mail, await show(mail)),
      })),
    )
    const all = [
      ...shown,
      ...others.map((mail) => ({ at: mail.created_at, article: describeMail(mail) })),
    ].sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
    const none = html`<p>No mail yet. Order something in a store, or ask for a new password.</p>`
    const body = html`<p><a href="/">Back</a></p>
<p class="quiet">The newest mails of all stores, each as HTML and as text. Without SMTP_URL none of them is sent.</p>
${all.length === 0 ? none : all.map(({ article }) => article)}`
    return sendPage(reply, { title: 'Inbox', body, hasFrames: true })
  })

  app.get(
    '/dev/mail/:id',
    { config: { hidden: true, failures: ['mail_not_found'] } },
    async ({ params }, reply) => {
      const { id } = params as { id: string }
      const mail = isUuid(id) ? await shopperMail.findForShow(operator, id) : null
      const written = mail && (await show(mail))
      const page = written?.html ?? (isUuid(id) ? (await findHtml(operator, id))?.html : null)
      if (!page) throw new ApiError('mail_not_found')
      return reply
        .headers({ 'content-security-policy': FRAMED_POLICY, 'referrer-policy': 'no-referrer' })
        .type('text/html; charset=utf-8')
        .send(page.replace('<head>', '<head><base target="_blank">'))
    },
  )
}

type Latest = Awaited<ReturnType<typeof listLatest>>[number]
type Written = Awaited<ReturnType<typeof shopperMail.showMail>>

interface Shown {
  id: string
  subject: string
  recipient: string | null
  tenant_ref: string | null
  /** The kind of the mail, and its state. */
  facts: string
  created_at: string
  html: boolean
  text: string | null
}

const describeMail = (mail: Latest): Html => {
  const state = mail.kept ? 'kept: a sandbox mails its owner alone' : 'not sent'
  const facts = mail.sent_at === null ? state : 'sent'
  return describe({ ...mail, facts, html: mail.html !== null, text: mail.body })
}

const describeShopperMail = (mail: shopperMail.NewestMail, written: Written): Html =>
  describe({
    ...mail,
    subject: written?.subject ?? mail.kind,
    recipient: written?.recipient ?? null,
    facts: `${mail.kind}, ${mail.state}${mail.reason === null ? '' : `: ${mail.reason}`}`,
    html: written !== null,
    text: written?.text ?? null,
  })

/** One mail of the inbox. Its HTML is loaded once it is opened; a mail without HTML shows its text at once. */
function describe({
  id,
  subject,
  recipient,
  tenant_ref,
  facts,
  created_at,
  html: hasHtml,
  text,
}: Shown): Html {
  return html`<article>
<h2>${subject}</h2>
<dl><dt>To</dt><dd>${recipient ?? 'no address'}</dd><dt>Store</dt><dd>${tenant_ref === null ? 'none: of the platform' : html`<code>${tenant_ref}</code>`}</dd><dt>State</dt><dd>${facts}</dd><dt>Written</dt><dd><time datetime="${created_at}">${created_at}</time></dd></dl>
${hasHtml && html`<details><summary>HTML</summary><iframe sandbox="allow-popups allow-popups-to-escape-sandbox" loading="lazy" src="/dev/mail/${id}" title="${subject}" width="100%" height="720"></iframe></details>`}
${text !== null && html`<details${!hasHtml && html` open`}><summary>Text</summary><pre>${linkify(text)}</pre></details>`}
</article>`
}

/** Makes the links of a plain text clickable. */
const linkify = (text: string): Html[] =>
  text
    .split(/(https?:\/\/\S+)/)
    .map((part, i) => (i % 2 === 1 ? html`<a href="${part}">${part}</a>` : html`${part}`))
