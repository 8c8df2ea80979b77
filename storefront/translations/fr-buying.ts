import type { BuyingTexts } from './en-buying.ts'

export const frBuying: BuyingTexts = {
  lowestPrice: (price) => `Prix le plus bas des 30 derniers jours : ${price}`,
  plan: 'À quelle fréquence',
  once: 'Une seule fois',
  repeated: (rhythm) => `Abonnement, ${rhythm}`,
  save: (percent) => `économisez ${percent}`,
  delivery: (price, shipping, isTaxed) =>
    [
      `Chaque envoi : ${price}`,
      shipping === null ? 'livraison offerte' : `plus ${shipping} de livraison`,
    ]
      .join(', ')
      .concat(isTaxed ? ', taxes en sus.' : '.'),
  nextDates: (dates) =>
    `Le premier envoi est cette commande ; les suivants seront débités le ${dates}.`,
  anyTime: 'Modifiable, suspendable et résiliable à tout moment.',
  toOnce: 'Acheter plutôt une seule fois',
  toRepeated: (every) => `L’envoyer plutôt ${every}`,
  agreed: (what) =>
    `Vous vous abonnez à ${what}. Votre carte est débitée à chaque envoi, jusqu’à ce que vous résiliiez.`,
  confirmationTo: (email) => `Les e-mails sur cette commande sont envoyés à ${email}.`,
  subscribedTo: (what) => `Vous êtes abonné à ${what}.`,
  nextDelivery: (date) => `Le prochain envoi sera débité le ${date}.`,
  manage: 'Modifier, suspendre ou résilier l’abonnement',
  giftCardsAside: 'Les cartes cadeaux ne sont pas prises en compte.',
  giftCardsPayNone:
    'Les cartes cadeaux ne peuvent pas être payées avec une carte cadeau ou un avoir.',
}
