import type { Db } from '../../db/database.ts'
import { html, trustedHtml } from '../../kernel/html.ts'
import { isAddress, type ListHeaders, oneLine } from '../../platform/mail.ts'
import { asLine, type Brand, brandOf } from '../sites/brand.ts'
import * as stores from '../stores/service.ts'
import type { MailDeps, Unsubscribe } from './deps.ts'
import { renderMarkdown } from './render-markdown.ts'
import type { Campaign } from './schema.ts'

/** What a merchant wrote. */
export type Draft = Pick<Campaign, 'sender_name' | 'reply_to' | 'utm'> & {
  subject: string
  body_markdown: string
  /** The plain text, where the Markdown has marks that a reader should not see. */
  text?: string
}

/** How the mails of a store look, and who they come from. */
export interface Look {
  name: string
  email: string | null
  language: string
  colours: Brand['colours']
  shopUrl: string | null
  /** The word for the link that ends the subscription. */
  unsubscribe: string
}

export async function loadLook(deps: MailDeps, db: Db): Promise<Look> {
  const store = await stores.get(db)
  const brand = await brandOf(db, store.activeVersion)
  return {
    name: brand.name ?? asLine(store.display_name) ?? store.tenant_ref,
    email: brand.email,
    language: store.language,
    colours: brand.colours,
    shopUrl: deps.shopUrl(store),
    unsubscribe: deps.unsubscribeLabel(store.language),
  }
}

/** A mail in both its forms, which say the same. */
export interface Parts {
  text: string
  html: string
}

/**
 * Writes a mail with its link to unsubscribe. The plain text is the Markdown itself, which is made to be
 * read as it is.
 */
export function writeParts(look: Look, draft: Draft, unsubscribeUrl: string): Parts {
  const footer = `${look.name}\n${look.unsubscribe}: ${unsubscribeUrl}\n`
  return {
    text: `${(draft.text ?? draft.body_markdown).trimEnd()}\n\n-- \n${footer}`,
    html: writeHtml(look, draft, unsubscribeUrl),
  }
}

const FONT =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"

/** Tables and styles at their elements, as mail programs need them. Colours are `#rrggbb` of our own making. */
function writeHtml(look: Look, draft: Draft, unsubscribeUrl: string): string {
  const { colours, language, name } = look
  const body = `${FONT}font-size:16px;line-height:1.5;color:${colours.text};overflow-wrap:anywhere`
  const small = `${FONT}font-size:13px;line-height:1.5;color:${colours.surfaceMuted}`
  const written = renderMarkdown(draft.body_markdown, (address) => withUtm(look, draft, address))
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${draft.subject}</title>
</head>
<body style="margin:0;padding:0;background-color:${colours.surface}">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="${colours.surface}"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;margin:0 auto">
<tr><td bgcolor="${colours.background}" style="background-color:${colours.background};padding:32px;border-radius:10px;${body}">${trustedHtml(written)}</td></tr>
<tr><td style="padding:20px 32px 0;${small}"><p style="margin:0">${name}</p><p style="margin:8px 0 0"><a href="${unsubscribeUrl}" style="color:${colours.surfaceMuted}">${look.unsubscribe}</a></p></td></tr>
</table>
</td></tr></table>
</body>
</html>
`.text
}

/** Adds the campaign to links into the store's own shop, where its owner looks for it. */
function withUtm({ shopUrl }: Look, { utm }: Draft, address: string): string {
  if (shopUrl === null || !URL.canParse(address)) return address
  const url = new URL(address)
  if (url.origin !== new URL(shopUrl).origin) return address
  for (const name of ['source', 'medium', 'campaign'] as const) {
    if (utm[name] !== null) url.searchParams.set(`utm_${name}`, utm[name])
  }
  return url.href
}

/** Stands where the link of each reader comes. It is no address of anyone. */
const LINK_OF_READER = 'https://reader.invalid/unsubscribe'

/** A mail to one reader. */
export interface WrittenMail extends Parts {
  subject: string
  fromName: string
  replyTo: string | null
  headers: ListHeaders
}

/** Writes a campaign once, and answers what writes each reader's own link into it. */
export function prepareMail(look: Look, draft: Draft): (reader: Unsubscribe) => WrittenMail {
  const parts = writeParts(look, draft, LINK_OF_READER)
  const [text, shown] = [parts.text.split(LINK_OF_READER), parts.html.split(LINK_OF_READER)]
  const replyTo = draft.reply_to ?? look.email ?? ''
  const common = {
    subject: draft.subject,
    fromName: oneLine(draft.sender_name ?? look.name),
    replyTo: isAddress(replyTo) ? replyTo : null,
  }
  return ({ url, headers }) => ({
    ...common,
    text: text.join(url),
    html: shown.join(html`${url}`.text),
    headers,
  })
}
