import type { Db } from '../../db/database.ts'
import { html, trustedHtml } from '../../kernel/html.ts'
import { randomBase62 } from '../../kernel/tokens.ts'
import { type ListHeaders, oneLine, toAsciiAddress } from '../../platform/mail.ts'
import { asLine, type Brand, brandOf } from '../sites/brand.ts'
import * as stores from '../stores/service.ts'
import type { MailDeps } from './deps.ts'
import type { Unsubscribe } from './ports.ts'
import { renderMarkdown } from './render-markdown.ts'
import type { Campaign } from './schema.ts'

/** The parts of a mail that a merchant writes. */
export type Draft = Pick<Campaign, 'sender_name' | 'reply_to' | 'utm'> & {
  subject: string
  body_markdown: string
  /** The plain text, if the Markdown has marks that a reader should not see. */
  text?: string
}

/** How the mails of a store look, and who they come from. */
export interface Look {
  name: string
  email: string | null
  language: string
  colours: Brand['colours']
  storefrontUrl: string | null
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
    storefrontUrl: deps.storefrontUrl(store),
    unsubscribe: deps.unsubscribeLabel(store.language),
  }
}

/** A mail as HTML and as text, which say the same. */
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

/**
 * Writes the HTML, with tables and styles at their elements, as mail programs need them. Colours are
 * `#rrggbb` of our own making.
 */
function writeHtml(look: Look, draft: Draft, unsubscribeUrl: string): string {
  const { colours, language, name } = look
  const body = `${FONT}font-size:16px;line-height:1.5;color:${colours.text};overflow-wrap:anywhere`
  const small = `${FONT}font-size:13px;line-height:1.5;color:${colours.surfaceMuted}`
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
<tr><td bgcolor="${colours.background}" style="background-color:${colours.background};padding:32px;border-radius:10px;${body}">${trustedHtml(writeBody(look, draft))}</td></tr>
<tr><td style="padding:20px 32px 0;${small}"><p style="margin:0">${name}</p><p style="margin:8px 0 0"><a href="${unsubscribeUrl}" style="color:${colours.surfaceMuted}">${look.unsubscribe}</a></p></td></tr>
</table>
</td></tr></table>
</body>
</html>
`.text
}

/** Larger mails are cut by mail programs. Only links that are many and long can make one so large. */
const BODY_LENGTH_MAX = 300_000

/** The text as HTML. Its links name the campaign, unless that would make the mail many times as large. */
function writeBody(look: Look, draft: Draft): string {
  const { body_markdown } = draft
  const written = renderMarkdown(body_markdown, (address) => withUtm(look, draft, address))
  return written.length > BODY_LENGTH_MAX ? renderMarkdown(body_markdown) : written
}

/** Adds the campaign to links into the store's own shop, where its owner looks for it. */
function withUtm({ storefrontUrl }: Look, { utm }: Draft, address: string): string {
  if (storefrontUrl === null || !URL.canParse(address)) return address
  const url = new URL(address)
  if (url.origin !== new URL(storefrontUrl).origin) return address
  for (const name of ['source', 'medium', 'campaign'] as const) {
    if (utm[name] !== null) url.searchParams.set(`utm_${name}`, utm[name])
  }
  return url.href
}

/** What the mails to all readers have in common: the link of each comes between the pieces of a text. */
export interface CommonMail {
  subject: string
  fromName: string
  replyTo: string | null
  text: readonly string[]
  html: readonly string[]
}

/** Writes the mail of a campaign once for all readers, without the link of each. */
export function writeCommon(look: Look, draft: Draft): CommonMail {
  // Stands for the reader's link until it is known. Random, so that no merchant's text contains it.
  const link = `https://reader.invalid/${randomBase62(16)}`
  const parts = writeParts(look, draft, link)
  return {
    subject: draft.subject,
    fromName: oneLine(draft.sender_name ?? look.name),
    replyTo: toAsciiAddress(draft.reply_to ?? look.email ?? ''),
    text: parts.text.split(link),
    html: parts.html.split(link),
  }
}

/** A mail to one reader. */
export interface WrittenMail extends Parts {
  subject: string
  fromName: string
  replyTo: string | null
  headers: ListHeaders
}

/** Writes a mail to one reader, with their own link. */
export function writeMail(look: Look, draft: Draft, { url, headers }: Unsubscribe): WrittenMail {
  const { text, html: shown, ...common } = writeCommon(look, draft)
  return { ...common, text: text.join(url), html: shown.join(html`${url}`.text), headers }
}
