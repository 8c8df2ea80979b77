import { frameHeaders, type HttpResponse } from '../http/response.ts'
import { type Html, html, trusted } from '../layout/html.ts'
import { keepHtml } from '../layout/kept-html.ts'
import { markdown } from '../layout/markdown.ts'
import { notFoundPage, pageTitle, renderPage } from '../layout/page.ts'
import type { PageContext } from '../request-context.ts'
import { type ContentPage, pagePath } from '../site/pages.ts'
import type { Site } from '../site/site.ts'
import { renderSections } from './home-view.ts'
import { framesOf } from './manifest-sections.ts'

/** Shows a content page of the manifest: its text, then its sections. */
export async function contentPage(context: PageContext, slug: string): Promise<HttpResponse> {
  const page = context.site.pages.find((each) => each.slug === slug)
  if (page === undefined) return notFoundPage(context)
  const text = contentText(context.site, page)
  const sections = page.sections.length === 0 ? null : await contentSections(context, page)
  const answer = await renderPage(context, {
    title: pageTitle(context, page.title),
    description: page.description ?? context.site.seo.description,
    canonical: pagePath(page),
    main: html`${text}${sections}`,
  })
  return { ...answer, headers: frameHeaders(context.assetBaseUrl, framesOf(page.sections)) }
}

/** The title of a page, and its text below. Null for a page of sections alone that has a hero as its title. */
const contentText = (site: Site, page: ContentPage): Html | null =>
  keepHtml(site, page, 'text', () => {
    const { title, body, sections } = page
    if (body === null && sections.some(hasTitle)) return null
    return html`<article class="wrap content"><div class="prose"><h1>${title}</h1>${body !== null && markdown(body, 2)}</div></article>`
  })

const hasTitle = (section: ContentPage['sections'][number]): boolean =>
  section.type === 'hero' && section.props.heading !== null

/** Renders the sections of a page. If the page has a title, a hero is left out: a page has one title. */
async function contentSections(context: PageContext, page: ContentPage): Promise<Html> {
  const hasText = contentText(context.site, page) !== null
  const sections = hasText ? page.sections.filter((each) => !hasTitle(each)) : page.sections
  let text = ''
  for await (const part of renderSections(context, sections, hasText)) text += part
  return trusted(text)
}
