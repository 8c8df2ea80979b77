/**
 * Whether a text shows a card: its number, however it is spaced, or by themselves its first or last
 * digits or its CVV. Three or four digits occur by chance in an id, in a time, in the number of a
 * process, and a test that took those for a card would fail once in a hundred runs.
 */
export function showsCard(text: string, number: string, cvv: string): boolean {
  const solid = (from: string) => from.replace(/(?<=\d)[ -](?=\d)/g, '')
  const whole = solid(number)
  if (solid(text).includes(whole)) return true
  const parts = [whole.slice(0, 4), whole.slice(0, 6), whole.slice(0, 8), whole.slice(-4), cvv]
  const alone = new RegExp(`(?<![\\w.-])(?:${parts.join('|')})(?![\\w-])`)
  return alone.test(text.replace(/"pid":\d+/g, ''))
}
