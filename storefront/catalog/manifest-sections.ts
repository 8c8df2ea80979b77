import { type Html, html, paragraphs } from '../layout/html.ts'
import { image } from '../layout/images.ts'
import type { PageContext } from '../request-context.ts'
import { mailTo, safeHref } from '../site/links.ts'
import { asList, asObject, asText } from '../site/manifest.ts'

/** Sections of the home page that need nothing but the manifest. `home-view.ts` has the others. */

export type Props = Record<string, unknown>

export const headingOf = (props: Props, level: 1 | 2 = 2): Html | null => {
  const text = asText(props.heading)
  if (text === null) return null
  return level === 1 ? html`<h1>${text}</h1>` : html`<h2 class="section-title">${text}</h2>`
}

export function hero(context: PageContext, props: Props): Html {
  const { theme, locale } = context.site
  const ref = asText(props.imageRef)
  const { label, href } = asObject(props.cta)
  const to = safeHref(href)
  const shown = image(context, {
    ref,
    alt: asText(props.imageAlt) ?? '',
    sizes: theme.layout['data-hero'] === 'split' ? '(min-width: 60rem) 50vw, 100vw' : '100vw',
    eager: true,
  })
  return html`<section class="hero${ref === null && ' hero-plain'}"><div class="hero-text">
${asText(props.eyebrow) && html`<p class="eyebrow">${asText(props.eyebrow)}</p>`}
${headingOf(props, 1)}
${asText(props.subheading) && html`<p class="lead">${asText(props.subheading)}</p>`}
${to !== null && html`<p><a class="button" href="${to}">${asText(label) ?? locale.texts.shopNow}</a></p>`}
</div>${ref !== null && html`<div class="hero-image">${shown}</div>`}</section>`
}

export const richText = (_context: PageContext, props: Props): Html =>
  html`<section class="wrap section rich-text"><div class="prose">${headingOf(props)}${paragraphs(asText(props.body) ?? '')}</div></section>`

export function imageSection(context: PageContext, props: Props): Html {
  const alt = asText(props.alt) ?? ''
  const href = safeHref(props.href)
  const shown = image(context, { ref: asText(props.imageRef), alt, sizes: '100vw' })
  const label = alt === '' && html` aria-label="${context.site.locale.texts.readMore}"`
  return html`<section class="wrap section"><figure class="wide">${
    href === null ? shown : html`<a href="${href}"${label}>${shown}</a>`
  }</figure></section>`
}

export function gallery(context: PageContext, props: Props): Html {
  const images = asList(props.images).map((each) => {
    const { imageRef, alt } = asObject(each)
    const shown = image(context, {
      ref: asText(imageRef),
      alt: asText(alt) ?? '',
      sizes: '(min-width: 60rem) 30vw, 92vw',
    })
    return html`<li>${shown}</li>`
  })
  return html`<section class="wrap section">${headingOf(props)}<ul class="gallery">${images}</ul></section>`
}

/**
 * Plays a file of the store. A video elsewhere is a link, since no page loads from another origin.
 */
export function video({ site }: PageContext, props: Props): Html | null {
  const href = safeHref(props.url)
  if (href === null) return null
  const caption = asText(props.caption)
  const isOwn = href.startsWith('/')
  return html`<section class="wrap section"><figure class="wide">${
    isOwn
      ? html`<video src="${href}" controls preload="none"></video>`
      : html`<a class="play" href="${href}" rel="noopener"><span aria-hidden="true">▶</span> ${caption ?? site.locale.texts.watchVideo}</a>`
  }${isOwn && caption && html`<figcaption>${caption}</figcaption>`}</figure></section>`
}

export function faq({ site }: PageContext, props: Props): Html {
  const heading =
    headingOf(props) ?? html`<h2 class="section-title">${site.locale.texts.questions}</h2>`
  const entries = asList(props.items).map((each) => {
    const { question, answer } = asObject(each)
    return html`<details><summary>${asText(question)}</summary><div class="prose">${paragraphs(asText(answer) ?? '')}</div></details>`
  })
  return html`<section class="wrap section faq">${heading}<div>${entries}</div></section>`
}

/**
 * The platform has no list to sign up to, so the button leads to the manifest's link, or to mail.
 */
export function newsletter({ site }: PageContext, props: Props): Html {
  const to = safeHref(props.href) ?? mailTo(site.email)
  return html`<section class="band"><div class="wrap band-row"><div>${headingOf(props)}${
    asText(props.body) && html`<p>${asText(props.body)}</p>`
  }</div>${to !== null && html`<a class="button" href="${to}">${asText(props.button) ?? site.locale.texts.emailUs}</a>`}</div></section>`
}

export function testimonials(_context: PageContext, props: Props): Html {
  const quotes = asList(props.items).map((each) => {
    const { quote, author } = asObject(each)
    return html`<li><figure><blockquote><p>${asText(quote)}</p></blockquote>${asText(author) && html`<figcaption>${asText(author)}</figcaption>`}</figure></li>`
  })
  return html`<section class="wrap section">${headingOf(props)}<ul class="quotes">${quotes}</ul></section>`
}

export function contact({ site }: PageContext, props: Props): Html {
  const email = asText(props.email) ?? site.email
  const to = mailTo(email)
  const heading =
    headingOf(props) ?? html`<h2 class="section-title">${site.locale.texts.contact}</h2>`
  return html`<section class="wrap section contact">${heading}${asText(props.body) && html`<p>${asText(props.body)}</p>`}${
    to !== null && html`<p><a class="big-link" href="${to}">${email}</a></p>`
  }</section>`
}

const SPACES = ['small', 'medium', 'large']

export const spacer = (_context: PageContext, props: Props): Html =>
  html`<div class="spacer" data-size="${SPACES.find((each) => each === props.size) ?? 'medium'}"></div>`
