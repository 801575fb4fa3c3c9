"""Write tests/data/sky/contacts.csv: when satellites in circular orbits touch the shadow of the oblate Earth, with 50 digits.

Needs mpmath. The geometry is that of rays: the disc of the Sun is the circle of directions that touch it, and such a ray meets the Earth where
the discriminant of its quadratic is positive, in coordinates in which the Earth is the unit sphere. The Earth hides part of the Sun if the
largest discriminant on the circle is positive, and all of it if the smallest is. Neither angles of limbs nor the stretched disc are used.

    python tools/make_contacts.py > tests/data/sky/contacts.csv
"""

from mpmath import cos, findroot, mp, mpf, pi, sin, sqrt

mp.dps = 50
EQUATOR, POLE, SUN_RADIUS, AU, GM = (
    mpf("6378.137"),
    mpf("6356.7523142"),
    mpf(695700),
    mpf("149597870.7"),
    mpf("398600.4418"),
)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def scaled(v):
    return [v[0] / EQUATOR, v[1] / EQUATOR, v[2] / POLE]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(v):
    length = sqrt(dot(v, v))
    return [x / length for x in v]


class Case:
    def __init__(self, radius, inclination, node, declination):
        self.radius, self.inclination, self.node = mpf(radius), mpf(inclination) * pi / 180, mpf(node) * pi / 180
        self.rate = sqrt(GM / self.radius**3)
        self.sun = [AU * cos(mpf(declination) * pi / 180), mpf(0), AU * sin(mpf(declination) * pi / 180)]

    def position(self, time):
        c, s = cos(self.rate * time), sin(self.rate * time)
        x, y, z = self.radius * c, self.radius * s * cos(self.inclination), self.radius * s * sin(self.inclination)
        cn, sn = cos(self.node), sin(self.node)
        return [x * cn - y * sn, x * sn + y * cn, z]

    def extreme(self, time, sign):
        """The largest (sign 1) or smallest (-1) discriminant of the rays to the rim of the Sun; -1 on the day side."""
        observer = self.position(time)
        light = [s - o for s, o in zip(self.sun, observer, strict=True)]
        far = sqrt(dot(light, light))
        sine = SUN_RADIUS / far
        axis = unit(light)
        x = unit(cross(axis, [mpf(0), mpf(0), mpf(1)]))
        y = cross(axis, x)
        origin = scaled(observer)

        def value(turn):
            way = scaled(
                [
                    sqrt(1 - sine**2) * a + sine * (cos(turn) * b + sin(turn) * c)
                    for a, b, c in zip(axis, x, y, strict=True)
                ]
            )
            ahead = -dot(way, origin)
            square = dot(way, way)
            return ahead * abs(ahead) / square - (dot(origin, origin) - 1)

        steps = 48
        best = max(range(steps), key=lambda i: sign * value(2 * pi * i / steps))
        middle, half = 2 * pi * best / steps, 2 * pi / steps
        # Newton's method on the slope, by central differences of 10^-15.
        h = mpf(10) ** -15
        turn = middle
        for _ in range(8):
            before, here, after = value(turn - h), value(turn), value(turn + h)
            step = -(after - before) / 2 * h / (after - 2 * here + before)
            turn += max(-half, min(half, step))
        return value(turn)

    def contacts(self):
        period = 2 * pi / self.rate
        step = period / 720
        found = []
        for sign in (1, -1):
            before = self.extreme(mpf(0), sign)
            for i in range(1, 721):
                here = self.extreme(i * step, sign)
                if (before < 0) != (here < 0):
                    root = findroot(
                        lambda t, sign=sign: self.extreme(t, sign),
                        ((i - 1) * step, i * step),
                        solver="anderson",
                        tol=mpf(10) ** -30,
                    )
                    found.append((root, "outer" if sign == 1 else "inner"))
                before = here
        return sorted(found)


CASES = [
    (6778, "51.6", 20, "23.4"),
    (7078, "98.2", 60, "-10"),
    (7078, "98.2", "63.6", "-10"),
    (6878, 0, 0, 0),
    (7378, 63, 250, 15),
    (26560, 55, 20, "-23.4"),
    (42164, 0, 40, 2),
    (42164, 7, 90, "-8.6"),
    (384400, 5, 5, "0.3"),
]

if __name__ == "__main__":
    print("radius_km,inclination_deg,node_deg,declination_deg,contact,time_s")
    for case in CASES:
        for time, contact in Case(*case).contacts():
            print(",".join(map(str, case)), contact, mp.nstr(time, 18), sep=",")
