import { lines } from './lines.ts'

/**
 * Harmless texts of stores that sell laboratory goods, packaging, books, cables, bottles,
 * furniture, clothing, food and cosmetics, in each language, as near to a claim as such stores get.
 */
export const COMMERCE: Readonly<Record<string, readonly string[]>> = {
  en: lines(`
    Wound healing in mice
    Weight loss of packaging
    Flat belly bottle
    Relieves stress on the cable
    Anti-ageing research literature
    Scratch kit for wound healing experiments in cell culture
    Weight loss on drying, measured per batch
    The tray limits weight loss of fruit during storage
    Flat belly flask, 500 ml, borosilicate
    A flat stomach pan with straight sides
    Relieves stress in the weld
    Relieves stress on the connector when the cord is pulled
    Ageing research: a reader for biology students
    Anti-ageing additives for rubber seals
    Accelerated ageing chamber for plastics
    Reduces fatigue of springs
    Tumor tissue microarray slides, formalin fixed
    Diabetic mouse model, serum samples
    Human serum albumin, for cell culture
    Human insulin ELISA kit, 96 wells
    Muscle growth in zebrafish, poster print
    Anti-inflammatory drug screening library
    Injection vials, 2 ml, amber glass, pack of 100
    Syringe filters, 0.22 micrometre
    Oral history archive boxes
    Pill organiser in bamboo, seven compartments
    Capsule wardrobe: ten pieces for every day
    Capsule coffee machine, one cup per minute
    Tablet sleeve, fits ten inch tablets
    Drop ceiling tiles, 20 per box
    Heavy-duty straps hold 250 kg per pair
    USB cable with strain relief at both ends
    Prevents data loss during power cuts
    Cable drum, 50 m, with thermal protection
    Stops the cord from fraying
    Kraft mailer that heals small punctures by itself
    Bubble wrap that reduces shocks in transit
    Void fill that cuts package weight
    Child-resistant jars for capsules, empty
    Blister packs, empty, 1000 pieces
    Amber dropper bottle, 30 ml
    Water bottle with a marked dose ring for syrup
    Steel bottle keeps drinks cold for 24 hours
    Thermal flask with a wide belly and a narrow neck
    Sofa with firm back and deep seat
    Chair that supports the lower back
    Bed frame in oak, supports 300 kg
    Weighted blanket, 7 kg, cotton cover
    Pressure-relieving foam, 4 cm
    Memory foam pillow for side sleepers
    Slimming black dress with long sleeves
    High-waist trousers with a flat front
    Compression socks, knee length, three pairs
    Shapewear bodysuit in soft jersey
    Anti-static wrist strap
    Running vest with reflective trim
    Sugar-free lemonade, 0.5 l
    Cured meats selection, 400 g
    Low fat yoghurt with strawberries
    Bone broth, simmered for 18 hours
    Whole grain muesli with dried fruit
    Ginger shots, box of twelve
    A dose of chilli for your noodles
    Herbal tea with chamomile and honey
    Cough drops tin from 1930, collector's item
    Moisturiser with shea butter, 100 ml
    Shampoo for dry hair, with a scent of fig
    Face wash with cucumber, unscented
    Lip balm with beeswax
    Sunscreen stick, SPF 30
    Clay mask for the weekend
    Nail polish remover without acetone
    Perfume sample set, five vials
    The emperor of all maladies: a book about cancer
    A reader on the treatment of depression in Victorian novels
    Living with arthritis: a memoir
    The plague, a novel by Camus, about a disease in Oran
    Textbook of clinical trials, third edition
    Handbook of pain research, second edition
    Essays on aging and time
    Cancer survivors' stories, collected letters
    Mouse pad with wrist rest
    Rat trap, reusable
    Garden spray that stops leaf infections of roses
    Fish tank salt treats white spot in aquarium fish
    Plaster to heal cracks in walls
    Boat varnish, heals hairline cracks
    Prevents burns on the hob
    Sleep mode saves battery
    Doctor blade for screen printing
    Nurse log terrarium kit
    Prescription pad notebook, novelty
    The patient gardener's diary
    Approved for food contact by the supplier
    FDA food contact compliant gloves, powder free
    Not FDA approved and not for human use
    We lost 20 kg of plastic from our boxes
    Stress relief ball in the shape of a lemon
    Wound closure strips for training dummies
    Injury lawyer business cards, 500 pieces
    Weight loss chart for drying fruit
    Fat loss in frying: a cookbook for air fryers
    Muscle recovery roller in cork
    Foam roller for after a run
    Knee pads for gardening, reduce pressure on the knees
    Heat pad for pets
    Cooling towel for hot days
    Sleep better with our linen: soft, breathable, washable
    Deep sleep, a crime novel
    Anti-aging cream jar, empty, 50 ml
    Hair growth chart for salons
    Skin care set with soap and brush
    Clear skin for phone cases, transparent
    Lower back seat cushion for office chairs
    Blood pressure cuff spare tube
    Blood sugar test strip holder, 3D printed
    Cholesterol ester standard, 10 mg, for chromatography
    Cancer ward, a novel by Solzhenitsyn
    The anatomy of melancholy: depression in the renaissance
    Flu season poster
    Cold and flu tissue box cover
    Fever thermometer, digital
    First aid kit for hikers
    Drug test pipettes, sterile
    Insulin plant pot: ceramic insulator turned planter
    Insulation tablets for soil, 20 per bag
    Two tablets per dishwasher cycle
    One capsule per cup of espresso
    Take two boxes and pay one
    Take a bottle on your morning run
    Drink cold, twice a day if you like it
    Apply to face of the board and clamp for an hour
    Inject sealant into the joint
    Injection of grease every 50 hours
    Syringe for glue, 10 ml, blunt needle
    Doctor recommended reading list for medical students
    Approved by the ministry for use in schools
    FDA compliant silicone, food grade
    Registered with the chamber of commerce
    I lost my keys and this tag found them
    We lost weight on the new frame: 300 g less
    My pain point was slow shipping, and it is gone
    My knees are muddy after gardening and this mat helped
    Cures quickly under a lamp
    Heals itself: the self-sealing tyre
    Reverse the cushion for the summer side
    Prevents wrinkles in shirts
    Reduces wrinkles in fabric by steam
    Smooths fine lines in plaster
    Burns fat-based candles cleanly
    Kills weeds, not bees
    Fights grease on the hob
    Fights stains
    Combat boots with side zip
    Stops slipping on ladders
    Beat the heat with this fan
    Boosts signal and reduces interference
    Growth hormone free milk
    Hormone-free chicken breast
    Build muscle cars from 300 pieces
    Gain strength in Spanish: a workbook
    Energy drink fridge, 40 l
    Metabolism pathway wall chart
    Mouse brain atlas, spiral bound
    Rat liver microsomes, 20 mg per ml
    Human umbilical vein endothelial cells, cryopreserved
    Recombinant human growth factor, carrier free, for cell culture
    Patient simulator manikin for nursing schools
    Therapy table, folding, for physiotherapists
    Acne study: images of skin, dataset licence
    Diabetes cookbook, low sugar recipes
    Arthritis-friendly jar opener
    Menopause: the musical, DVD
    Dementia-friendly clock with large digits
    Autism awareness badge
    Asthma inhaler pouch`),
  de: lines(`
    Nicht zum Verzehr geeignet
    Das Harz härtet in zwei Stunden aus
    Behandeltes Holz für den Außenbereich
    Zugentlastung für Kabel
    Schmerzfreie Rückgabe innerhalb von 30 Tagen
    Gewichtsverlust der Verpackung nach dem Trocknen
    Kapselkaffee, 20 Stück
    Roman über einen Arzt im Krieg
    Das Buch vom Heilen, Antiquariat
    Tablettenhülle aus Filz
    Verhindert Rost an Gartengeräten
    Gesichtscreme mit Aloe, 50 ml
    Luftgetrockneter Schinken
    Täglich frisch gebackenes Brot
    Einmal täglich gießen
    Bauchige Flasche, 700 ml
    Muskelshirt aus Baumwolle
    Wundheilung bei Mäusen: eine Übersicht der Literatur`),
  es: lines(`
    Jamón curado dieciocho meses
    Tratamiento de superficies metálicas
    Previene la oxidación
    Libro sobre la historia de la medicina
    Pérdida de peso del embalaje tras el secado
    Alivia la tensión del cable
    Cápsulas vacías, bolsa de mil
    Crema facial con aloe, 50 ml
    Novela sobre un médico rural
    Botella de vientre plano
    Cicatrización de heridas en ratones
    Bebida fría sin azúcar
    Peso del paquete: 3 kg
    Collar del signo cáncer
    Tome el tren hasta la costa
    Riegue una vez al día
    El producto no cura ninguna enfermedad`),
  fr: lines(`
    Jambon cru affiné douze mois
    Traitement de surface des métaux
    Prévient la rouille
    Histoire de la médecine en cent objets
    Perte de poids de l'emballage après séchage
    Soulage la tension du câble
    Capsules de café, lot de 50
    Crème visage à l'aloès, 50 ml
    Roman d'un médecin de campagne
    Cicatrisation des plaies chez la souris
    Bouteille à ventre plat
    Arroser une fois par jour
    Le pain de campagne, 800 g
    Pendentif signe du cancer
    Prenez le temps de choisir
    Ce produit ne guérit aucune maladie
    Douleur exquise, livre de photographies`),
  it: lines(`
    Cura del legno e del cuoio
    A cura di Umberto Eco
    Trattamento delle superfici metalliche
    Perdita di peso dell'imballaggio
    Salame stagionato, 300 g
    Romanzo di un medico di campagna
    Crema viso all'aloe, 50 ml
    Borraccia in acciaio
    Pendente segno del cancro
    Prendere il treno per Genova
    Annaffiare una volta al giorno
    Allevia la tensione del cavo
    Il prodotto non cura alcuna malattia
    Non destinato al consumo umano
    Compresse per lavastoviglie, 60 pezzi`),
  nl: lines(`
    Gedroogde ham, 200 gram
    Oppervlaktebehandeling van staal
    Gewichtsverlies van de verpakking
    Roman over een huisarts
    Gezichtscrème met aloë, 50 ml
    Vaatwastabletten, 60 stuks
    Hanger van het sterrenbeeld kreeft
    Een keer per dag water geven
    Trekontlasting voor kabels
    Neem contact met ons op
    Dit product geneest geen ziekten
    Niet geschikt voor menselijke consumptie
    Wondgenezing bij muizen, proefschrift
    Spiegel met eiken lijst
    Val niet van de ladder: antislipmat`),
  pl: lines(`
    Szynka dojrzewająca, 200 g
    Obróbka powierzchni stali
    Utrata wagi opakowania po suszeniu
    Powieść o wiejskim lekarzu
    Krem do twarzy z aloesem, 50 ml
    Tabletki do zmywarki, 60 sztuk
    Zawieszka znak zodiaku rak
    Podlewać raz dziennie
    Butelka z brzuszkiem, 700 ml
    Produkt nie leczy żadnych chorób
    Nie nadaje się do spożycia przez ludzi
    Gojenie ran u myszy, praca naukowa
    Ból istnienia, tomik poezji
    Zapobiega plątaniu kabli
    Cukier trzcinowy, 1 kg`),
  ru: lines(`
    Ветчина вяленая, 200 г
    Обработка поверхности стали
    Потеря веса упаковки при сушке
    Роман о сельском враче
    Крем для лица с алоэ, 50 мл
    Таблетки для посудомоечной машины, 60 штук
    Подвеска знак зодиака рак
    Поливать один раз в день
    Снимает напряжение кабеля
    Продукт не лечит никаких болезней
    Не для употребления человеком
    Заживление ран у мышей, научный обзор
    Раки варёные, 1 кг
    Сахар тростниковый, 1 кг
    Предотвращает потерю данных`),
  zh: lines(`
    火腿切片，200克
    金属表面处理
    包装干燥后的重量损失
    一位乡村医生的小说
    芦荟面霜，50毫升
    洗碗机用洗碗块，60块
    巨蟹座吊坠
    每天浇水一次
    减轻电缆拉力
    本产品不能治疗任何疾病
    不适合人体使用
    小鼠伤口愈合研究文献
    平底肚形水瓶
    无糖饮料
    肌肉解剖海报`),
  ja: lines(`
    生ハム200グラム
    金属の表面処理
    乾燥後の包装の重量減少
    田舎の医師を描いた小説
    アロエ配合フェイスクリーム50ml
    食洗機用タブレット60個
    かに座のペンダント
    1日1回水やりをしてください
    ケーブルの張力を緩和するクランプ
    本品は病気を治療するものではありません
    人体に使用しないでください
    マウスの創傷治癒に関する論文集
    砂糖不使用の飲み物
    がんばる人のためのノート
    治具セット`),
  ar: lines(`
    لحم مجفف، ٢٠٠ غرام
    معالجة سطح الفولاذ
    فقدان وزن التغليف بعد التجفيف
    رواية عن طبيب في الريف
    كريم للوجه بالصبار، ٥٠ مل
    أقراص لغسالة الصحون، ٦٠ قرصا
    قلادة برج السرطان
    يسقى مرة واحدة يوميا
    يخفف شد الكابل
    المنتج لا يعالج أي مرض
    غير صالح للاستهلاك البشري
    التئام الجروح عند الفئران، بحث علمي
    مشروب بدون سكر
    ألم وأمل، ديوان شعر
    علبة سكر، ١ كجم`),
}
