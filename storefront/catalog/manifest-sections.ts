import { mailTo } from '../../manifest/links.ts'
import type { PropsOf } from '../../manifest/section-types.ts'
import { type Html, html } from '../layout/html.ts'
import { image } from '../layout/images.ts'
import { markdown } from '../layout/markdown.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'

/** Sections of the home page that need nothing but the manifest. `home-view.ts` has the others. */

export const headingOf = (
  { heading: text }: { heading: string | null },
  level: 1 | 2 = 2,
): Html | null => {
  if (text === null) return null
  return level === 1 ? html`<h1>${text}</h1>` : html`<h2 class="section-title">${text}</h2>`
}

export function hero(context: PageContext, props: PropsOf<'hero'>): Html {
  const { theme, locale } = context.site
  const ref = props.imageRef
  const { label, href: to } = props.cta
  const shown = image(context, {
    ref,
    alt: props.imageAlt ?? '',
    sizes: theme.layout['data-hero'] === 'split' ? '(min-width: 60rem) 50vw, 100vw' : '100vw',
    eager: true,
  })
  return html`<section class="hero${ref === null && ' hero-plain'}"><div class="hero-text">
${props.eyebrow && html`<p class="eyebrow">${props.eyebrow}</p>`}
${headingOf(props, 1)}
${props.subheading && html`<p class="lead">${props.subheading}</p>`}
${to !== null && html`<p><a class="button" href="${to}">${label ?? locale.texts.shopNow}</a></p>`}
</div>${ref !== null && html`<div class="hero-image">${shown}</div>`}</section>`
}

export const richText = (_context: PageContext, props: PropsOf<'rich-text'>): Html =>
  memoize(props, 'html', () => {
    const body = markdown(props.body ?? '', props.heading === null ? 2 : 3)
    return html`<section class="wrap section rich-text"><div class="prose">${headingOf(props)}${body}</div></section>`
  })

export function imageSection(context: PageContext, props: PropsOf<'image'>): Html {
  const alt = props.alt ?? ''
  const href = props.href
  const shown = image(context, { ref: props.imageRef, alt, sizes: '100vw' })
  const label = alt === '' && html` aria-label="${context.site.locale.texts.readMore}"`
  return html`<section class="wrap section"><figure class="wide">${
    href === null ? shown : html`<a href="${href}"${label}>${shown}</a>`
  }</figure></section>`
}

export function gallery(context: PageContext, props: PropsOf<'gallery'>): Html {
  const images = props.images.map(({ imageRef, alt }) => {
    const shown = image(context, {
      ref: imageRef,
      alt: alt ?? '',
      sizes: '(min-width: 60rem) 30vw, 92vw',
    })
    return html`<li>${shown}</li>`
  })
  return html`<section class="wrap section">${headingOf(props)}<ul class="gallery">${images}</ul></section>`
}

/**
 * Plays a file of the store. A video elsewhere is a link, since no page loads from another origin.
 */
export function video({ site }: PageContext, props: PropsOf<'video'>): Html | null {
  const href = props.url
  if (href === null) return null
  const caption = props.caption
  const isOwn = href.startsWith('/')
  return html`<section class="wrap section"><figure class="wide">${
    isOwn
      ? html`<video src="${href}" controls preload="none"></video>`
      : html`<a class="play" href="${href}" rel="noopener"><span aria-hidden="true">▶</span> ${caption ?? site.locale.texts.watchVideo}</a>`
  }${isOwn && caption && html`<figcaption>${caption}</figcaption>`}</figure></section>`
}

export const faq = ({ site }: PageContext, props: PropsOf<'faq'>): Html =>
  memoize(props, 'html', () => {
    const heading =
      headingOf(props) ?? html`<h2 class="section-title">${site.locale.texts.questions}</h2>`
    const entries = props.items.map(
      ({ question, answer }) =>
        html`<details><summary>${question}</summary><div class="prose">${markdown(answer ?? '', 3)}</div></details>`,
    )
    return html`<section class="wrap section faq">${heading}<div>${entries}</div></section>`
  })

/**
 * The platform has no list to sign up to, so the button leads to the manifest's link, or to mail.
 */
export function newsletter({ site }: PageContext, props: PropsOf<'newsletter'>): Html {
  const to = props.href ?? mailTo(site.email)
  return html`<section class="band"><div class="wrap band-row"><div>${headingOf(props)}${
    props.body && html`<p>${props.body}</p>`
  }</div>${to !== null && html`<a class="button" href="${to}">${props.button ?? site.locale.texts.emailUs}</a>`}</div></section>`
}

export function testimonials(_context: PageContext, props: PropsOf<'testimonials'>): Html {
  const quotes = props.items.map(({ quote, author }) => {
    return html`<li><figure><blockquote><p>${quote}</p></blockquote>${author && html`<figcaption>${author}</figcaption>`}</figure></li>`
  })
  return html`<section class="wrap section">${headingOf(props)}<ul class="quotes">${quotes}</ul></section>`
}

export function contact({ site }: PageContext, props: PropsOf<'contact'>): Html {
  const email = props.email ?? site.email
  const to = mailTo(email)
  const heading =
    headingOf(props) ?? html`<h2 class="section-title">${site.locale.texts.contact}</h2>`
  return html`<section class="wrap section contact">${heading}${props.body && html`<p>${props.body}</p>`}${
    to !== null && html`<p><a class="big-link" href="${to}">${email}</a></p>`
  }</section>`
}

export const spacer = (_context: PageContext, props: PropsOf<'spacer'>): Html =>
  html`<div class="spacer" data-size="${props.size}"></div>`
