import { type Html, html, paragraphs } from '../html.ts'
import { mailTo, safeHref } from '../links.ts'
import { picture } from '../pictures.ts'
import { asBlock, asList, asText } from '../site.ts'
import { remember, type Visit } from '../visit.ts'

/** The sections that need nothing but the manifest. */

export type Props = Record<string, unknown>

export const headingOf = (props: Props, level: 1 | 2 = 2): Html | null => {
  const text = asText(props.heading)
  if (text === null) return null
  return level === 1 ? html`<h1>${text}</h1>` : html`<h2 class="section-title">${text}</h2>`
}

const album = ({ site, cdn }: Visit) => ({ tenant: site.tenant, cdn })

/** Beyond that they hide the store. */
const ANNOUNCEMENTS_MAX = 3

/** Stands above every page. */
export const announcement = (visit: Visit): Html =>
  remember(visit.site, 'announcement', () => {
    const shown = visit.site.sections
      .filter(({ type }) => type === 'announcement')
      .slice(0, ANNOUNCEMENTS_MAX)
    return html`${shown.map(({ props }) => {
      const text = asText(props.text)
      const href = safeHref(props.href)
      if (text === null) return null
      return html`<div class="announcement">${href === null ? text : html`<a href="${href}">${text}</a>`}</div>`
    })}`
  })

/** Stands below every page; a store without one has a plain one. */
export const footer = (visit: Visit): Html =>
  remember(visit.site, 'footer', () => {
    const { sections, brand, words } = visit.site
    const { say } = words
    const props = sections.findLast(({ type }) => type === 'footer')?.props ?? {}
    const links = asList(props.links).map((each) => {
      const { label, href } = asBlock(each)
      const to = safeHref(href)
      return to === null ? null : html`<li><a href="${to}">${asText(label) ?? to}</a></li>`
    })
    return html`<footer class="bottom"><div class="wrap bottom-row">
<div class="bottom-brand"><p class="bottom-name">${brand.name}</p>${brand.tagline && html`<p>${brand.tagline}</p>`}</div>
<nav aria-label="${say.footer}"><ul>${links}<li><a href="/products">${say.allProducts}</a></li><li><a href="/orders">${say.yourOrders}</a></li></ul></nav>
${asText(props.text) && html`<p class="bottom-text">${asText(props.text)}</p>`}
</div></footer>`
  })

export function hero(visit: Visit, props: Props): Html {
  const ref = asText(props.imageRef)
  const { label, href } = asBlock(props.cta)
  const to = safeHref(href)
  const shown = picture(album(visit), {
    ref,
    alt: asText(props.imageAlt) ?? '',
    sizes:
      visit.site.look.layout['data-hero'] === 'split' ? '(min-width: 60rem) 50vw, 100vw' : '100vw',
    eager: true,
  })
  return html`<section class="hero${ref === null && ' hero-plain'}"><div class="hero-text">
${asText(props.eyebrow) && html`<p class="eyebrow">${asText(props.eyebrow)}</p>`}
${headingOf(props, 1)}
${asText(props.subheading) && html`<p class="lead">${asText(props.subheading)}</p>`}
${to !== null && html`<p><a class="button" href="${to}">${asText(label) ?? visit.site.words.say.shopNow}</a></p>`}
</div>${ref !== null && html`<div class="hero-picture">${shown}</div>`}</section>`
}

export const richText = (_visit: Visit, props: Props): Html =>
  html`<section class="wrap section words"><div class="prose">${headingOf(props)}${paragraphs(asText(props.body) ?? '')}</div></section>`

export function image(visit: Visit, props: Props): Html {
  const alt = asText(props.alt) ?? ''
  const href = safeHref(props.href)
  const shown = picture(album(visit), { ref: asText(props.imageRef), alt, sizes: '100vw' })
  return html`<section class="wrap section"><figure class="wide">${
    href === null
      ? shown
      : html`<a href="${href}"${alt === '' && html` aria-label="${visit.site.words.say.readMore}"`}>${shown}</a>`
  }</figure></section>`
}

export const gallery = (visit: Visit, props: Props): Html =>
  html`<section class="wrap section">${headingOf(props)}<ul class="gallery">${asList(
    props.images,
  ).map((each) => {
    const { imageRef, alt } = asBlock(each)
    const shown = {
      ref: asText(imageRef),
      alt: asText(alt) ?? '',
      sizes: '(min-width: 60rem) 30vw, 92vw',
    }
    return html`<li>${picture(album(visit), shown)}</li>`
  })}</ul></section>`

/** A file of the store is played here; anything elsewhere is a link, since no page calls out. */
export function video({ site }: Visit, props: Props): Html | null {
  const href = safeHref(props.url)
  if (href === null) return null
  const caption = asText(props.caption)
  const isOwn = href.startsWith('/')
  return html`<section class="wrap section"><figure class="wide">${
    isOwn
      ? html`<video src="${href}" controls preload="none"></video>`
      : html`<a class="play" href="${href}" rel="noopener"><span aria-hidden="true">▶</span> ${caption ?? site.words.say.watch}</a>`
  }${isOwn && caption && html`<figcaption>${caption}</figcaption>`}</figure></section>`
}

export const faq = ({ site }: Visit, props: Props): Html =>
  html`<section class="wrap section faq">${headingOf(props) ?? html`<h2 class="section-title">${site.words.say.questions}</h2>`}<div>${asList(
    props.items,
  ).map((each) => {
    const { question, answer } = asBlock(each)
    return html`<details><summary>${asText(question)}</summary><div class="prose">${paragraphs(asText(answer) ?? '')}</div></details>`
  })}</div></section>`

/** The contract has no list to sign up to, so the button leads where the manifest says, or to mail. */
export function newsletter({ site }: Visit, props: Props): Html {
  const to = safeHref(props.href) ?? mailTo(site.email)
  return html`<section class="band"><div class="wrap band-row"><div>${headingOf(props)}${
    asText(props.body) && html`<p>${asText(props.body)}</p>`
  }</div>${to !== null && html`<a class="button" href="${to}">${asText(props.button) ?? site.words.say.writeToUs}</a>`}</div></section>`
}

export const testimonials = (_visit: Visit, props: Props): Html =>
  html`<section class="wrap section">${headingOf(props)}<ul class="quotes">${asList(
    props.items,
  ).map((each) => {
    const { quote, author } = asBlock(each)
    return html`<li><figure><blockquote><p>${asText(quote)}</p></blockquote>${asText(author) && html`<figcaption>${asText(author)}</figcaption>`}</figure></li>`
  })}</ul></section>`

export function contact({ site }: Visit, props: Props): Html {
  const email = asText(props.email) ?? site.email
  const to = mailTo(email)
  return html`<section class="wrap section contact">${headingOf(props) ?? html`<h2 class="section-title">${site.words.say.contact}</h2>`}${asText(props.body) && html`<p>${asText(props.body)}</p>`}${
    to !== null && html`<p><a class="big-link" href="${to}">${email}</a></p>`
  }</section>`
}

const SPACES = ['small', 'medium', 'large']

export const spacer = (_visit: Visit, props: Props): Html =>
  html`<div class="spacer" data-size="${SPACES.find((each) => each === props.size) ?? 'medium'}"></div>`
