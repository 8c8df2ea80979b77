import {
  MENU_PROPS,
  PAGE_KINDS,
  PAGE_PROPS,
  PAGES_MAX,
  type PageKind,
} from '../../manifest/page-props.ts'
import { readProps } from '../../manifest/read-props.ts'
import type { Texts } from '../translations/texts.ts'
import { asObject } from './manifest.ts'
import { readSections, type Section } from './sections.ts'

/** A content page of the manifest, at `/pages/{slug}`. */
export interface ContentPage {
  slug: string
  title: string
  kind: PageKind
  description: string | null
  /** The text of the page in Markdown. */
  body: string | null
  sections: readonly Section[]
}

/** Reads the content pages. A page without a slug is left out, and so is one whose slug another page has. */
export function readPages(value: unknown, texts: Texts): readonly ContentPage[] {
  const pages = new Map<string, ContentPage>()
  for (const each of Array.isArray(value) ? value.slice(0, PAGES_MAX) : []) {
    const {
      slug,
      title,
      kind: said,
      description,
      body_markdown: body,
    } = readProps(PAGE_PROPS, each)
    if (slug === null || pages.has(slug)) continue
    const kind = said === 'other' ? (PAGE_KINDS.find((known) => known === slug) ?? said) : said
    const named = title ?? (kind === 'other' ? slug : texts.pageKinds[kind])
    const sections = readSections(asObject(each).sections, body)
    pages.set(slug, { slug, title: named, kind, description, body, sections })
  }
  return [...pages.values()]
}

/** A link of a menu. */
export interface MenuItem {
  label: string
  href: string
}

export interface Menus {
  /** The menu of the header; null if the manifest has none, and the storefront makes its own. */
  header: readonly MenuItem[] | null
  footer: readonly MenuItem[] | null
}

/** Reads the menus. An entry without a label or a target is left out, and so is one to a missing page. */
export function readMenus(value: unknown, pages: readonly ContentPage[]): Menus {
  const read = readProps(MENU_PROPS, value)
  const itemsOf = (name: keyof typeof MENU_PROPS): readonly MenuItem[] | null => {
    if (!Array.isArray(asObject(value)[name])) return null
    return read[name].flatMap(({ label, page, collection, product, url }) => {
      const path = pages.some(({ slug }) => slug === page) ? pathOf('pages', page) : null
      const href = path ?? pathOf('collections', collection) ?? pathOf('products', product) ?? url
      return label === null || href === null ? [] : [{ label, href }]
    })
  }
  return { header: itemsOf('header'), footer: itemsOf('footer') }
}

const pathOf = (kind: string, slug: string | null): string | null =>
  slug === null ? null : `/${kind}/${encodeURIComponent(slug)}`

export const pagePath = ({ slug }: ContentPage): string => `/pages/${encodeURIComponent(slug)}`
