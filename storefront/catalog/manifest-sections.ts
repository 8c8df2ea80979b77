import { readEmbed } from '../../manifest/embeds.ts'
import { mailTo } from '../../manifest/links.ts'
import type { PropsOf } from '../../manifest/section-types.ts'
import { type Html, html } from '../layout/html.ts'
import { assetUrl, image } from '../layout/images.ts'
import { keepHtml } from '../layout/kept-html.ts'
import { markdown } from '../layout/markdown.ts'
import { memoize } from '../memo.ts'
import type { PageContext } from '../request-context.ts'
import type { Section } from '../site/sections.ts'
import { newsletterForm } from './newsletter.ts'

/** Sections of the home page that need nothing but the manifest. `home-view.ts` has the others. */

export const headingOf = (
  { heading: text }: { heading: string | null },
  level: 1 | 2 = 2,
): Html | null => {
  if (text === null) return null
  return level === 1 ? html`<h1>${text}</h1>` : html`<h2 class="section-title">${text}</h2>`
}

/**
 * A little less than the width of a phone: the next smaller image, at twice the pixels of a phone, looks
 * the same there and has half the bytes.
 */
export const PHONE_WIDTH = '82vw'

export function hero(context: PageContext, props: PropsOf<'hero'>): Html {
  const { theme, locale } = context.site
  const ref = props.imageRef
  const { label, href: to } = props.cta
  const shown = image(context, {
    ref,
    alt: props.imageAlt ?? '',
    sizes: `(min-width: 60rem) ${theme.layout['data-hero'] === 'split' ? '50vw' : '100vw'}, ${PHONE_WIDTH}`,
    eager: true,
  })
  return html`<section class="hero${ref === null && ' hero-plain'}"><div class="hero-text">
${props.eyebrow && html`<p class="eyebrow">${props.eyebrow}</p>`}
${headingOf(props, 1)}
${props.subheading && html`<p class="lead">${props.subheading}</p>`}
${to !== null && html`<p><a class="button" href="${to}">${label ?? locale.texts.shopNow}</a></p>`}
</div>${ref !== null && html`<div class="hero-image">${shown}</div>`}</section>`
}

export const richText = ({ site }: PageContext, props: PropsOf<'rich-text'>): Html =>
  keepHtml(site, props, 'html', () => {
    const body = markdown(props.body ?? '', props.heading === null ? 2 : 3)
    return html`<section class="wrap section rich-text"><div class="prose">${headingOf(props)}${body}</div></section>`
  })

export function imageSection(context: PageContext, props: PropsOf<'image'>): Html {
  const alt = props.alt ?? ''
  const href = props.href
  const shown = image(context, {
    ref: props.imageRef,
    alt,
    sizes: `(min-width: 60rem) 100vw, ${PHONE_WIDTH}`,
  })
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
      sizes: `(min-width: 60rem) 30vw, ${PHONE_WIDTH}`,
    })
    return html`<li>${shown}</li>`
  })
  return html`<section class="wrap section">${headingOf(props)}<ul class="gallery">${images}</ul></section>`
}

/** The button of a section. */
const ctaButton = (
  { site }: PageContext,
  { label, href }: { label: string | null; href: string | null },
): Html | null =>
  href === null
    ? null
    : html`<p><a class="button" href="${href}">${label ?? site.locale.texts.readMore}</a></p>`

export function imageWithText(context: PageContext, props: PropsOf<'image-with-text'>): Html {
  const shown = image(context, {
    ref: props.imageRef,
    alt: props.imageAlt ?? '',
    sizes: `(min-width: 60rem) 50vw, ${PHONE_WIDTH}`,
  })
  const body = keepHtml(context.site, props, 'body', () =>
    props.body === null ? null : markdown(props.body, props.heading === null ? 2 : 3),
  )
  return html`<section class="wrap section feature" data-side="${props.side}"><div class="feature-image">${shown}</div><div class="feature-text">${
    props.heading && html`<h2>${props.heading}</h2>`
  }${body && html`<div class="prose">${body}</div>`}${ctaButton(context, props.cta)}</div></section>`
}

export function logoList(context: PageContext, props: PropsOf<'logo-list'>): Html | null {
  const logos = props.logos.flatMap(({ imageRef, alt, href }) => {
    const url = assetUrl(context, imageRef)
    if (url === null) return []
    // An SVG has one size; any other image is requested small enough for a row.
    const shown = html`<img src="${url}?w=320" alt="${alt}" loading="lazy" decoding="async">`
    const label = alt === null && html` aria-label="${context.site.locale.texts.readMore}"`
    return [html`<li>${href === null ? shown : html`<a href="${href}"${label}>${shown}</a>`}</li>`]
  })
  if (logos.length === 0) return null
  return html`<section class="wrap section logos">${headingOf(props)}<ul>${logos}</ul></section>`
}

/** The date is the server's. The script shows how much time is left, in the words of the page. */
export function countdown(context: PageContext, props: PropsOf<'countdown'>): Html | null {
  const { heading, until, body, cta } = props
  if (heading === null || until === null || Date.parse(until) <= Date.now()) return null
  const { texts, formatTime } = context.site.locale
  const moment = new Date(until).toISOString()
  const units = Object.entries(COUNTDOWN_UNITS).map(
    ([unit, seconds]) =>
      html`<span data-seconds="${seconds}"><b></b> ${texts.timeUnits[unit as keyof typeof COUNTDOWN_UNITS]}</span>`,
  )
  return html`<section class="band countdown" data-countdown="${moment}"><div class="wrap band-row"><div><h2 class="section-title">${heading}</h2>${body && html`<p>${body}</p>`}<p><time datetime="${moment}">${formatTime(moment)}</time></p></div><div class="clock" role="timer" aria-label="${heading}" hidden>${units}</div>${ctaButton(context, cta)}</div></section>`
}

const COUNTDOWN_UNITS = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 }

/**
 * Plays a video of the store's own host. A video of a known host is loaded into a frame after a click;
 * before that, no request goes to that host. Any other video is a link.
 */
export function video(context: PageContext, props: PropsOf<'video'>): Html | null {
  const { url, caption, posterRef } = props
  if (url === null) return null
  const { texts } = context.site.locale
  const poster = assetUrl(context, posterRef)
  const embed = readEmbed(url)
  if (url.startsWith('/')) {
    return html`<section class="wrap section"><figure class="wide"><video src="${url}" controls preload="none"${poster && html` poster="${poster}?w=1280"`}></video>${caption && html`<figcaption>${caption}</figcaption>`}</figure></section>`
  }
  const shown = poster && image(context, { ref: posterRef, alt: '', sizes: PHONE_WIDTH })
  return html`<section class="wrap section"><figure class="wide"><a class="play" href="${url}" rel="noopener"${
    embed && html` data-embed="${embed.frame}" data-title="${caption ?? texts.watchVideo}"`
  }>${shown}<span class="play-text"><span class="play-icon" aria-hidden="true">▶</span> ${caption ?? texts.watchVideo}</span></a>${
    embed && html`<figcaption>${texts.videoNote({ host: embed.host })}</figcaption>`
  }</figure></section>`
}

/** The origins of the frames that a page may load after a click. */
export const framesOf = (sections: readonly Section[]): readonly string[] =>
  memoize(sections, 'frames', () => {
    const origins = sections.flatMap((each) => {
      const embed = each.type === 'video' ? readEmbed(each.props.url ?? '') : null
      return embed === null ? [] : [new URL(embed.frame).origin]
    })
    return [...new Set(origins)]
  })

export const faq = ({ site }: PageContext, props: PropsOf<'faq'>): Html =>
  keepHtml(site, props, 'html', () => {
    const heading =
      headingOf(props) ?? html`<h2 class="section-title">${site.locale.texts.questions}</h2>`
    const entries = props.items.map(
      ({ question, answer }) =>
        html`<details><summary>${question}</summary><div class="prose">${markdown(answer ?? '', 3)}</div></details>`,
    )
    return html`<section class="wrap section faq">${heading}<div>${entries}</div></section>`
  })

/** A form that asks for the newsletter; if the manifest has a link, a button that leads there. */
export function newsletter(context: PageContext, props: PropsOf<'newsletter'>): Html {
  const label = props.button ?? context.site.locale.texts.newsletterJoin
  return html`<section class="band"><div class="wrap band-row"><div>${headingOf(props)}${
    props.body && html`<p>${props.body}</p>`
  }</div>${
    props.href === null
      ? newsletterForm(context, { email: '', label })
      : html`<a class="button" href="${props.href}">${label}</a>`
  }</div></section>`
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
