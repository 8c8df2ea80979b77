/** The elements and attributes that an SVG may have. All others are removed. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/**
 * The allowed elements: shapes, text and paint. Not allowed are scripts and elements that can
 * contain them, external images and fonts, animation, `use` and `pattern` (a few lines of which draw
 * billions of shapes), and filters.
 */
export const ELEMENTS = words(`
  svg g defs title desc path rect circle ellipse line polyline polygon text tspan
  linearGradient radialGradient stop clipPath mask`)

/** The elements without which the drawing would look wrong: an SVG that has them is refused. */
export const INDISPENSABLE = words('style use')

/** Elements whose text is kept. Other text is white space between shapes. */
export const TEXT_ELEMENTS = words('text tspan title desc')

/**
 * Elements that clip or mask. They must not be nested, since the work of nested ones multiplies.
 */
export const CLIPPING_ELEMENTS = words('clipPath mask')
export const CLIPPING_ATTRIBUTES = words('clip-path mask')

/** Elements whose `href` names another gradient of the same drawing. */
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

/** Letters, numbers and the characters that colours, paths and font lists need. */
const PLAIN = /^[\p{L}\p{N}\s#%.,+\-()'"/&_]*$/u
const LOCAL_URL = /^url\((['"]?)#[\w.-]{1,200}\1\)(?: (?:none|#[0-9a-f]{3,8}|[a-z]{1,30}))?$/i
/** The name before a parenthesis. It is read backwards from there: a search would be quadratic. */
const CALLED = /([\p{L}\p{N}_-]{1,20})\s{0,3}$/u

/** Whether a value refers to nothing outside the drawing. */
export function isHarmless(value: string): boolean {
  if (LOCAL_URL.test(value)) return true
  if (!PLAIN.test(value)) return false
  const parts = value.split('(').slice(0, -1)
  return parts.every((part) => FUNCTIONS.has(CALLED.exec(part.slice(-24))?.[1] ?? ''))
}

export const isLocalLink = (value: string): boolean => /^#[\w.-]{1,200}$/.test(value)
