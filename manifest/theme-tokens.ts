import { choice, colour, font, fonts, integer, length, number, spacing } from './prop.ts'

/** The members of `theme` that the reference storefront reads. */
export const THEME_TOKENS = {
  color: {
    background: colour('The background of every page.'),
    surface: colour('The background of cards, tiles and bands.'),
    text: colour('The text. It is changed until it is readable on the background.'),
    primary: colour('Buttons and links.'),
    accent: colour('The announcement above every page.'),
  },
  type: {
    heading: fonts('The fonts of headings.'),
    body: fonts('The fonts of all other text.'),
    headingFont: font(
      'A font that the store has uploaded, for headings. `heading` stands in for it.',
    ),
    bodyFont: font(
      'A font that the store has uploaded, for all other text. `body` stands in for it.',
    ),
    bodyWeights: choice('Whether the font of the text has one weight, or all: a variable font.', [
      'one',
      'all',
    ]),
    weight: integer('The weight of headings.', { min: 100, max: 900, fallback: 600 }),
    case: choice('Whether headings are written in capitals.', ['none', 'upper']),
    style: choice('Whether headings are slanted.', ['normal', 'italic']),
    spacing: spacing('The space between the letters of headings.'),
    scale: number('How large headings are.', { min: 0.7, max: 1.6, fallback: 1 }),
  },
  layout: {
    width: length('The greatest width of a page.'),
    radius: length('How round the corners are.'),
    imageRatio: number("The width of a product's image, divided by its height.", {
      min: 0.5,
      max: 2,
      fallback: 1,
    }),
    header: choice('Where the name of the store stands.', ['left', 'center', 'bar']),
    hero: choice('The image of a hero: beside, behind or below its text.', [
      'split',
      'cover',
      'poster',
    ]),
    card: choice('How a product is framed in lists.', ['soft', 'framed', 'quiet']),
    density: choice('How much room there is between things.', ['regular', 'airy', 'compact']),
    button: choice('The form of buttons.', ['solid', 'outline', 'block']),
  },
} as const
