import { type Html, html, trustedHtml } from '../../kernel/html.ts'
import type { Brand } from './brand.ts'
import type { Block, Content, ContentLine, ContentRow, MailLook } from './mail-content.ts'

/**
 * Writes a mail as HTML. Mail programs know little of CSS: the layout is made of tables, every style is on its
 * element, and the few rules of the head only serve narrow and dark screens. Colours are `#rrggbb` that we wrote,
 * addresses are http(s), and everything else is escaped. Why no library: decision 0038.
 */
export function renderHtml(mail: MailLook, content: Content): string {
  const { store, language } = mail
  const { colours } = store
  const look = lookOf(mail)
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="x-apple-disable-message-reformatting">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${content.subject}</title>
<style>${trustedHtml(NARROW + darkRules(store.darkColours))}</style>
</head>
<body class="su" style="margin:0;padding:0;background-color:${colours.surface};-webkit-text-size-adjust:100%">
<div style="display:none;max-height:0;overflow:hidden">${previewOf(content)}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="su" bgcolor="${colours.surface}" style="background-color:${colours.surface}"><tr><td align="center" class="outer" style="padding:32px 16px">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px;margin:0 auto">
<tr><td style="height:6px;line-height:6px;font-size:0;background-color:${colours.primary};border-radius:10px 10px 0 0" bgcolor="${colours.primary}">&nbsp;</td></tr>
<tr><td class="card bg tx" bgcolor="${colours.background}" style="background-color:${colours.background};padding:32px 40px 36px;border-radius:0 0 10px 10px;${look.body}">
${brandRow(mail, content)}
<h1 class="tx" style="margin:28px 0 12px;font-size:26px;line-height:1.25;font-weight:600;color:${colours.text}">${content.heading}</h1>
${content.blocks.map((block) => writeBlock(look, block))}
</td></tr>
<tr><td class="card sm" style="padding:20px 40px 0;${look.small}color:${colours.surfaceMuted}">${content.footer.map((line) => html`<p style="margin:0 0 8px">${line}</p>`)}</td></tr>
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</body>
</html>
`.text
}

const NARROW =
  '@media (max-width:480px){.outer{padding:0!important}.card{padding-left:20px!important;padding-right:20px!important}.btn{width:100%!important}.btn a{display:block!important}.code{font-size:19px!important;letter-spacing:0!important}}@media (max-width:374px){.nm,.am{display:block!important;text-align:start!important}.am{padding:0 12px 8px!important}}'

/** The colours of the elements, by their class, for mail programs that ask a dark screen's reader. */
const darkRules = (dark: Brand['colours']): string =>
  `@media (prefers-color-scheme:dark){${Object.entries({
    bg: `background-color:${dark.background}`,
    su: `background-color:${dark.surface}`,
    st: `color:${dark.surfaceText}`,
    sm: `color:${dark.surfaceMuted}`,
    tx: `color:${dark.text}`,
    mu: `color:${dark.muted}`,
    lk: `color:${dark.link}`,
    ln: `border-color:${dark.line}`,
    logo: 'background-color:#ffffff;padding:6px 10px;border-radius:6px',
  })
    .map(([name, style]) => `.${name}{${style.replaceAll(/(?<=:)[^;]+/g, '$&!important')}}`)
    .join('')}}`

const FONT =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;"

type Look = ReturnType<typeof lookOf>

/** Styles that many elements share, in the store's colours. */
const lookOf = ({ store: { colours } }: MailLook) => ({
  ...colours,
  body: `${FONT}font-size:16px;line-height:1.5;color:${colours.text};overflow-wrap:anywhere;`,
  small: `${FONT}font-size:13px;line-height:1.5;overflow-wrap:anywhere;`,
})

/** The preview text, which a list of mails shows beside the subject: the first sentence. */
const previewOf = ({ blocks }: Content): string =>
  blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []))[0] ?? ''

function brandRow({ store }: MailLook, { reference }: Content): Html {
  const { name, logoUrl, url, colours } = store
  const shown =
    logoUrl === null
      ? html`<span class="tx" style="font-size:20px;font-weight:700;color:${colours.text}">${name}</span>`
      : html`<img class="logo" src="${logoUrl}" alt="${name}" height="44" style="display:block;height:44px;max-width:240px;border:0;font-size:20px;font-weight:700;color:${colours.text}">`
  const brand =
    url === null
      ? shown
      : html`<a class="tx" href="${url}" style="text-decoration:none;color:${colours.text}">${shown}</a>`
  return html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td valign="middle">${brand}</td>${reference !== null && html`<td class="mu" align="right" valign="middle" style="padding-left:16px;font-size:14px;white-space:nowrap;color:${colours.muted}">${reference}</td>`}</tr></table>`
}

function writeBlock(look: Look, block: Block): Html {
  switch (block.type) {
    case 'text':
      return html`<p style="margin:0 0 20px">${block.text}</p>`
    case 'note':
      return html`<p class="mu" style="margin:20px 0 0;${look.small}color:${look.muted}">${block.text}</p>`
    case 'button':
      return button(look, block)
    case 'link':
      return html`<p style="margin:20px 0 0"><a class="lk" href="${block.url}" style="font-weight:600;color:${look.link}">${block.label}</a></p>`
    case 'lines':
      return lineTable(look, block)
    case 'totals':
      return totalTable(look, block.rows)
    case 'facts':
      return html`<div class="ln" style="margin:22px 0 0;border-top:1px solid ${look.line}">${block.rows.map((row) => fact(look, row))}</div>`
    case 'address':
      return html`${title(look, block.title)}<p style="margin:0">${block.lines.map((line, at) => html`${at > 0 && html`<br>`}${line}`)}</p>`
    case 'code':
      return codeBox(look, block)
  }
}

/** A button. It is a table, since Outlook does not pad links. */
const button = (look: Look, { label, url }: { label: string; url: string }): Html =>
  html`<table role="presentation" class="btn" cellpadding="0" cellspacing="0" border="0" style="margin:20px 0"><tr><td bgcolor="${look.primary}" align="center" style="background-color:${look.primary};border-radius:8px"><a href="${url}" style="display:inline-block;padding:14px 26px;font-size:16px;font-weight:600;line-height:1.25;text-decoration:none;color:${look.onPrimary}">${label}</a></td></tr></table>`

const title = (look: Look, text: string): Html =>
  html`<h2 class="tx ln" style="margin:30px 0 10px;padding:20px 0 0;border-top:1px solid ${look.line};font-size:17px;line-height:1.3;font-weight:600;color:${look.text}">${text}</h2>`

const lineTable = (look: Look, block: { title: string; lines: readonly ContentLine[] }): Html =>
  html`${title(look, block.title)}<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">${block.lines.map((line) => lineRow(look, line))}</table>`

function lineRow(look: Look, line: ContentLine): Html {
  const { name, label, quantity, amount } = line
  return html`<tr><td width="60" valign="middle" style="padding:8px 0;width:60px">${picture(look, line)}</td><td class="tx nm" valign="middle" style="padding:8px 12px;${look.body}"><span style="font-weight:600">${name}</span> <span class="mu" style="white-space:nowrap;color:${look.muted}">× ${quantity}</span>${label !== null && html`<br><span class="mu" style="${look.small}color:${look.muted}">${label}</span>`}</td><td class="tx am" align="right" valign="middle" style="padding:8px 0;white-space:nowrap;${look.body}overflow-wrap:normal;font-weight:600">${amount}</td></tr>`
}

/** The picture of a line. Without one, the first letter of its name is shown, as in the shop. */
const picture = (look: Look, { name, imageUrl }: ContentLine): Html =>
  imageUrl === null
    ? html`<div class="su sm" style="width:60px;height:60px;line-height:60px;border-radius:8px;text-align:center;font-size:22px;font-weight:600;background-color:${look.surface};color:${look.surfaceMuted}">${firstLetter(name)}</div>`
    : html`<img src="${imageUrl}" alt="" width="60" height="60" style="display:block;width:60px;height:60px;object-fit:cover;border-radius:8px">`

const firstLetter = (name: string): string =>
  /[\p{L}\p{N}]\p{M}*/u.exec(name)?.[0]?.toUpperCase() ?? ''

/** The table of totals. Sums stand below the amounts of the lines. */
const totalTable = (look: Look, rows: readonly ContentRow[]): Html =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" class="ln" style="margin:20px 0 0;padding:12px 0 0;border-top:1px solid ${look.line}">${rows.map((row) => totalRow(look, row))}</table>`

function totalRow(look: Look, { label, value, isTotal, isQuiet }: ContentRow): Html {
  const size = isTotal ? 'font-size:19px;font-weight:700;' : isQuiet ? look.small : ''
  const style = `padding:5px 0;${look.body}${size}`
  const [front, back] = isTotal ? [look.text, look.text] : [look.muted, look.text]
  return html`<tr><td class="${isTotal ? 'tx' : 'mu'}" valign="top" style="${style}${wrapping(label)}padding-right:16px;color:${front}">${label}</td><td class="${isQuiet ? 'mu' : 'tx'}" valign="top" align="right" style="${style}overflow-wrap:normal;color:${isQuiet ? look.muted : back}">${value}</td></tr>`
}

/** Breaks a word only where it is longer than any of ours, such as the code of a coupon. */
const wrapping = (label: string): string => (/\S{17}/.test(label) ? '' : 'overflow-wrap:normal;')

/** A fact with its label above the value: the number of a parcel may be as wide as the screen of a phone. */
function fact(look: Look, { label, value, url }: ContentRow): Html {
  const shown = url
    ? html`<a class="lk" href="${url}" style="color:${look.link}">${value}</a>`
    : value
  return html`<p style="margin:16px 0 0"><span class="mu" style="${look.small}color:${look.muted}">${label}</span><br>${shown}</p>`
}

interface Code {
  title: string
  code: string
  amount: string
  below: string | null
}

const codeBox = (look: Look, { title: above, code, amount, below }: Code): Html =>
  html`<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:20px 0 0"><tr><td class="su sm" bgcolor="${look.surface}" align="center" style="background-color:${look.surface};border:2px solid ${look.primary};border-radius:10px;padding:28px 16px;${look.small}color:${look.surfaceMuted}"><span class="st" style="font-size:36px;line-height:1.2;font-weight:700;color:${look.surfaceText}">${amount}</span><br><br>${above}<br><span class="st code" style="font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:21px;line-height:1.6;letter-spacing:1px;font-weight:700;color:${look.surfaceText}">${code}</span>${below !== null && html`<br>${below}`}</td></tr></table>`
