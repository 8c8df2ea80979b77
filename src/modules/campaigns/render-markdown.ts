import { createRequire } from 'node:module'
import type { default as MarkdownIt, Token } from 'markdown-it'

const load = createRequire(import.meta.url)

/**
 * Renders texts of mails in Markdown. As in the storefront, the parser begins with no rule at all and gets the rules
 * below: there is no rule for HTML, so that tags are shown as text.
 */
const RULES = [
  ...['blockquote', 'heading', 'hr', 'lheading', 'list'],
  ...['autolink', 'backticks', 'balance_pairs', 'emphasis', 'entity', 'escape', 'fragments_join'],
  ...['image', 'link', 'newline'],
]

/** Deeper lists and quotes are shown as text. The parser calls itself for each level. */
const NESTING_MAX = 12

/** Links to the web and to mail addresses: a mail has no address of its own that a path could be below. */
const LINK = /^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu

type Parser = InstanceType<typeof MarkdownIt>

let parser: Parser | undefined

/** The parser, which is loaded with the first text: with its table of entities it takes two megabytes. */
function openParser(): Parser {
  const Constructor: typeof MarkdownIt = load('markdown-it')
  const opened = new Constructor('zero', { breaks: true, maxNesting: NESTING_MAX }).enable(
    RULES,
    true,
  )
  opened.validateLink = (address) => LINK.test(address)
  return opened
}

/** Changes the address of a link. */
export type MapLink = (address: string) => string

/** Renders a text. Every tag is the parser's own, and it escapes all text and attributes. */
export function renderMarkdown(text: string, mapLink: MapLink = (address) => address): string {
  parser ??= openParser()
  const tokens = parser.parse(text, {})
  for (const { children } of tokens) for (const token of children ?? []) finish(token, mapLink)
  return parser.renderer.render(tokens, parser.options, {})
}

function finish(token: Token, mapLink: MapLink): void {
  if (token.type === 'link_open')
    token.attrSet('href', mapLink(String(token.attrGet('href') ?? '')))
  if (token.type === 'image') token.attrSet('style', 'max-width:100%;height:auto;border:0')
}
