import { createRequire } from 'node:module'
import type { default as MarkdownIt, Token } from 'markdown-it'
import { safeHref } from '../../manifest/links.ts'
import { markdownWeight, TEXT_WEIGHT_MAX } from '../../manifest/markdown-weight.ts'
import { type Html, html, trusted } from './html.ts'

const load = createRequire(import.meta.url)

/**
 * Texts of merchants in Markdown. The parser begins with no rule at all and gets the rules below: there is no rule for
 * HTML, images, code blocks or link definitions, so their text is shown as it is.
 */
const RULES = [
  ...['blockquote', 'heading', 'hr', 'lheading', 'list', 'table'],
  ...['autolink', 'backticks', 'balance_pairs', 'emphasis', 'entity', 'escape', 'fragments_join'],
  ...['link', 'newline'],
]

/** Deeper lists and quotes are shown as text. The parser calls itself for each level. */
const NESTING_MAX = 12

type Parser = InstanceType<typeof MarkdownIt>

let parser: Parser | undefined

/** The parser, which is loaded with the first text: with its table of entities it takes two megabytes. */
function openParser(): Parser {
  const Constructor: typeof MarkdownIt = load('markdown-it')
  const opened = new Constructor('zero', { breaks: true, maxNesting: NESTING_MAX }).enable(
    RULES,
    true,
  )
  // Links go to paths of the store, to web pages and to mail addresses. Links of any other kind stay text.
  opened.validateLink = (address) => {
    const href = safeHref(address)
    return href !== null && !href.toLowerCase().startsWith('tel:')
  }
  return opened
}

/** Removes links such as `[here]()`, which lead nowhere, and keeps their text. A link never holds another. */
const withoutEmptyLinks = (tokens: Token[]): Token[] => {
  let empty = false
  return tokens.filter((token) => {
    if (token.type === 'link_open') empty = token.attrGet('href') === ''
    return !(empty && (token.type === 'link_open' || token.type === 'link_close'))
  })
}

/** Replaces the style of a table's columns with a class: our content security policy refuses a style. */
const withoutStyle = ([name, value]: [string, string | number]): [string, string | number] =>
  name === 'style' ? ['class', String(value).replace('text-align:', 'align-')] : [name, value]

/** A text that is too heavy is shown unrendered: rendering it would keep all other stores waiting. */
const plain = (text: string): Html => html`<p class="plain">${text}</p>`

/**
 * Renders a text in Markdown. `level` is that of its first heading. The levels below follow without a gap, whatever the
 * merchant chose, so that screen readers can follow.
 */
export function markdown(text: string, level: 2 | 3): Html {
  if (markdownWeight(text) > TEXT_WEIGHT_MAX) return plain(text)
  parser ??= openParser()
  const tokens = parser.parse(text, {})
  let previous = level - 1
  const open: string[] = []
  for (const token of tokens) {
    if (token.type === 'heading_open') {
      const own = level + Number(token.tag.slice(1)) - 1
      previous = Math.min(own, previous + 1, 6)
      token.tag = `h${previous}`
      open.push(token.tag)
    } else if (token.type === 'heading_close') token.tag = open.pop() ?? token.tag
    else if (token.children !== null) token.children = withoutEmptyLinks(token.children)
    else if (token.attrs !== null) token.attrs = token.attrs.map(withoutStyle)
  }
  // Every tag is the parser's own, and it escapes all text and attributes.
  return trusted(parser.renderer.render(tokens, parser.options, {}))
}
