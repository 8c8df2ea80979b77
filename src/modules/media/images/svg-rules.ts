/** What a drawing may be made of. Anything that is not here does not come through. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/**
 * Shapes, text and paint. Not among them: scripts and what can hold them, pictures and fonts from
 * elsewhere, animation, `use` and `pattern` (a few lines of which draw billions), filters.
 */
export const ELEMENTS = words(`
  svg g defs title desc path rect circle ellipse line polyline polygon text tspan
  linearGradient radialGradient stop clipPath mask`)

/** Left out, these change the drawing beyond recognition: better to say so than to keep ruins. */
export const NEEDED = words('style use')

/** Whose text is shown. White space between shapes means nothing. */
export const TEXTUAL = words('text tspan title desc')

/** Inside these a drawing may not be cut out again: nested ones multiply. */
export const CUTTERS = words('clipPath mask')
export const CUTS = words('clip-path mask')

/** Whose `href` means another gradient of the same drawing. */
export const GRADIENTS = words('linearGradient radialGradient')

export const ATTRIBUTES = words(`
  id version viewBox preserveAspectRatio width height x y x1 y1 x2 y2 cx cy r rx ry fx fy fr dx dy
  d points transform rotate offset pathLength textLength lengthAdjust role aria-label
  color display visibility overflow opacity paint-order vector-effect color-interpolation
  fill fill-opacity fill-rule clip-path clip-rule clipPathUnits mask maskUnits maskContentUnits
  stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit
  stroke-dasharray stroke-dashoffset shape-rendering text-rendering
  gradientUnits gradientTransform spreadMethod stop-color stop-opacity
  font-family font-size font-weight font-style font-variant font-stretch letter-spacing word-spacing
  text-anchor text-decoration dominant-baseline alignment-baseline baseline-shift writing-mode`)

const FUNCTIONS = words(`
  rgb rgba hsl hsla matrix translate translateX translateY scale rotate skewX skewY calc`)

/** Letters, numbers and the little that colours, paths and font lists are written with. */
const PLAIN = /^[\p{L}\p{N}\s#%.,+\-()'"/&_]*$/u
const LOCAL_URL = /^url\((['"]?)#[\w.-]{1,200}\1\)(?: (?:none|#[0-9a-f]{3,8}|[a-z]{1,30}))?$/i
/** The word before a parenthesis. Read from there: a search for words would be quadratic. */
const CALLED = /([\p{L}\p{N}_-]{1,20})\s{0,3}$/u

/** Whether a value can only mean something within the drawing. */
export function isHarmless(value: string): boolean {
  if (LOCAL_URL.test(value)) return true
  if (!PLAIN.test(value)) return false
  const parts = value.split('(').slice(0, -1)
  return parts.every((part) => FUNCTIONS.has(CALLED.exec(part.slice(-24))?.[1] ?? ''))
}

export const isLocalLink = (value: string): boolean => /^#[\w.-]{1,200}$/.test(value)
