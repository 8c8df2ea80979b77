import { ApiError } from './errors.ts'
import { sendPage } from './http/page.ts'
import type { App } from './http/route.ts'
import { type Html, html } from './kernel/html.ts'
import { isUuid } from './kernel/schema.ts'
import * as shopperMail from './modules/shopper-mail/service.ts'
import { openShopperMail } from './open-shopper-mail.ts'
import { listLatest } from './platform/mail.ts'
import type { Runtime } from './runtime.ts'

/**
 * The pages that show the mails of a development machine, sent or not. Mails contain tokens and codes, so production
 * has no such pages.
 */

const MAILS_MAX = 50
const SHOPPER_MAILS_MAX = 20

/**
 * The policy of a mail's HTML, which contains texts of merchants and shoppers: it runs no script, has an origin of
 * its own, and is shown in no page but ours.
 */
const FRAMED_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src http: https: data:',
  'sandbox allow-popups allow-popups-to-escape-sandbox',
  "frame-ancestors 'self'",
].join('; ')

export function addMailPages(app: App, runtime: Runtime): void {
  const operator = runtime.operatorDatabase.global
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
<p class="quiet">The newest mails. Without SMTP_URL none of them is sent.</p>
${all.length === 0 ? none : all.map(({ article }) => article)}`
    return sendPage(reply, { title: 'Mails', body, hasFrames: true })
  })

  app.get(
    '/dev/mail/:id',
    { config: { hidden: true, failures: ['mail_not_found'] } },
    async ({ params }, reply) => {
      const { id } = params as { id: string }
      const mail = isUuid(id) ? await shopperMail.findForShow(operator, id) : null
      const written = mail && (await show(mail))
      if (!written) throw new ApiError('mail_not_found')
      return reply
        .headers({ 'content-security-policy': FRAMED_POLICY, 'referrer-policy': 'no-referrer' })
        .type('text/html; charset=utf-8')
        .send(written.html.replace('<head>', '<head><base target="_blank">'))
    },
  )
}

type Latest = Awaited<ReturnType<typeof listLatest>>[number]
type Written = Awaited<ReturnType<typeof shopperMail.showMail>>

const describeMail = ({ recipient, subject, body, created_at, sent_at }: Latest): Html =>
  html`<article>
<h2>${subject}</h2>
<p class="quiet">To ${recipient}, <time datetime="${created_at}">${created_at}</time>${sent_at ? ', sent' : ', not sent'}</p>
<pre>${linkify(body)}</pre>
</article>`

function describeShopperMail(mail: shopperMail.NewestMail, written: Written): Html {
  const { id, kind, tenant_ref, state, reason, created_at } = mail
  const shown = written && {
    subject: written.subject,
    body: html`<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" src="/dev/mail/${id}" title="${written.subject}" width="100%" height="720"></iframe>
<details><summary>Plain text</summary><pre>${linkify(written.text)}</pre></details>`,
  }
  return html`<article>
<h2>${shown?.subject ?? kind}</h2>
<p class="quiet">To ${written?.recipient ?? 'no address'}, <code>${kind}</code> of <code>${tenant_ref}</code>, <time datetime="${created_at}">${created_at}</time>, ${state}${reason && `: ${reason}`}</p>
${shown?.body}
</article>`
}

/** Makes the links of a plain text clickable. */
const linkify = (text: string): Html[] =>
  text
    .split(/(https?:\/\/\S+)/)
    .map((part, i) => (i % 2 === 1 ? html`<a href="${part}">${part}</a>` : html`${part}`))
