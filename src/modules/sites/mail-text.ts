import type { Block, Content, ContentLine, ContentRow, MailLook } from './mail-content.ts'

/** Writes a mail as plain text. It has no markup, so that nothing in it has to be escaped. */
export function renderText({ store }: MailLook, content: Content): string {
  const parts = [
    [clean(store.name), ...(content.reference === null ? [] : [content.reference])].join('\n'),
    content.heading,
    ...content.blocks.map(writeBlock),
    `-- \n${content.footer.map(clean).join('\n')}`,
  ]
  return `${parts.join('\n\n')}\n`
}

function writeBlock(block: Block): string {
  switch (block.type) {
    case 'text':
    case 'note':
      return clean(block.text)
    case 'button':
    case 'link':
      return `${clean(block.label)}:\n${block.url}`
    case 'lines':
      return [underlined(block.title), ...block.lines.map(writeLine)].join('\n')
    case 'totals':
    case 'facts':
      return block.rows.map(writeRow).join('\n')
    case 'address':
      return [underlined(block.title), ...block.lines.map(clean)].join('\n')
    case 'code': {
      const { title, code, amount, below } = block
      return [
        `${clean(title)}: ${clean(code)} (${amount})`,
        ...(below === null ? [] : [below]),
      ].join('\n')
    }
  }
}

const underlined = (title: string) => `${clean(title)}\n${'-'.repeat([...title].length)}`

function writeLine({ name, label, quantity, amount }: ContentLine): string {
  const what = label === null ? name : `${name}, ${label}`
  return `${quantity} × ${clean(what)}${amount === null ? '' : `: ${amount}`}`
}

const writeRow = ({ label, value, url }: ContentRow): string =>
  [`${clean(label)}: ${clean(value)}`, ...(url ? [url] : [])].join('\n')

/** Removes line breaks from a text: a name with line breaks could look like lines of our own. */
const clean = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
