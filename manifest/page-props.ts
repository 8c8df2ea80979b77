import { choice, line, link, list, markdown, object, slug } from './prop.ts'

/** The content pages and menus of a manifest: its members `pages` and `menus`. */

/** What a page is about. The storefront links to legal pages where a shopper needs them. */
export const PAGE_KINDS = [
  'other',
  'about',
  'imprint',
  'terms',
  'privacy',
  'withdrawal',
  'shipping',
] as const
export type PageKind = (typeof PAGE_KINDS)[number]

/** The pages that a shopper can read before they pay. */
export const LEGAL_KINDS: readonly PageKind[] = [
  'terms',
  'privacy',
  'withdrawal',
  'shipping',
  'imprint',
]

/** More pages than a store writes. All of them are read with the manifest. */
export const PAGES_MAX = 100

export const PAGE_PROPS = {
  slug: slug('The page answers at `/pages/{slug}`.', { required: true }),
  title: line('The title of the page, and of links to it.', { required: true }),
  kind: choice(
    'What the page is about. A page whose slug is one of these has that kind without saying so.',
    PAGE_KINDS,
  ),
  description: line('What search engines show of the page.'),
  // The terms of a store are longer than any text of a section.
  body_markdown: markdown('The text of the page, in Markdown.', { lengthMax: 60_000 }),
} as const

const item = object('An entry: a label and one of `page`, `collection`, `product` and `url`.', {
  label: line('The text of the link.', { required: true }),
  page: slug('The slug of a page of the manifest.'),
  collection: slug('The slug of a collection.'),
  product: slug('The slug of a product.'),
  url: link('Any other place.'),
})

export const MENU_TARGETS = ['page', 'collection', 'product', 'url'] as const

export const MENU_PROPS = {
  header: list(
    'Below or beside the name of the store. Without it, the collections are shown.',
    8,
    item,
  ),
  footer: list('Below every page. Without it, all content pages are shown.', 24, item),
} as const
