package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares whole sequences of instants with an oracle that checks every second or minute. */
class CronOracleTest {
    private static final Duration AROUND = Duration.ofHours(27);

    @ParameterizedTest
    @MethodSource("io.carillon.schedule.TestZones#zonesWithClockChanges")
    void equals_the_oracle_second_by_second_around_changes_of_the_clocks(String zone) {
        aroundChanges(ZoneId.of(zone), new Random(TestZones.seed("around " + zone)), 3, 25);
    }

    @ParameterizedTest
    @MethodSource("io.carillon.schedule.TestZones#zonesWithClockChanges")
    void equals_the_oracle_over_years_of_random_expressions(String zone) {
        Random random = new Random(TestZones.seed("years " + zone));
        overYears(ZoneId.of(zone), random, 24);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0 0 29 2 *",
                "0 0 29 2 1",
                "0 12 29 2 */1",
                "0 0 L * *",
                "0 0 L-1 2 *",
                "30 2 LW * *",
                "0 9 15W * *",
                "0 9 1W,31W * *",
                "0 0 * * FRIL",
                "0 0 * * 5#5",
                "0 0 * * MON#1,FRI#3,0L",
                "15 10 1,L,10W * TUE#2",
                "0 0 13 * FRI",
                "0 0 */2 * MON",
                "0 0 13-13 * *",
                "0 0 */100 * *",
                "*/45 3 * * *",
                "59/2 23 31 12 *",
                "0 0 1-7 * MON",
                "0 0 1-7 * */7",
                "30 2 * MAR,oct SUN",
                "30 2 * * MON-FRI/2",
                "0 1/6 * JUN-AUG *",
                "0 0 31 * *",
                "0 0 30 4,6,9,11 *",
                "0 0 ? * SAT-SUN",
                "0 0 31W 4 *",
                "0 0 L-30 * *",
                "@monthly",
                "@yearly",
                "@weekly",
                "@daily",
                "@hourly",
                "0,30 0-3 * * *",
                "*/20 * 1 1 *",
                "7 7 7 7 7"
            })
    void equals_the_oracle_over_thirty_years(String text) {
        String plain = text.startsWith("@") ? spelledOut(text) : text;
        for (String zone : List.of("UTC", "Europe/Berlin", "America/Havana")) {
            compare(
                    text,
                    new ReferenceCron(plain),
                    ZoneId.of(zone),
                    DstPolicy.defaults(),
                    span("1999-12-31", "2029-12-31"));
        }
    }

    @Tag("slow")
    @Test
    void equals_the_oracle_around_clock_changes_in_every_zone() {
        Random random = new Random(TestZones.seed("every zone"));
        for (String zone : ZoneId.getAvailableZoneIds()) {
            aroundChanges(ZoneId.of(zone), random, 2, 15);
            overYears(ZoneId.of(zone), random, 6);
        }
    }

    private static void aroundChanges(ZoneId zone, Random random, int changes, int expressions) {
        RandomCron crons = new RandomCron(random);
        List<ZoneOffsetTransition> all =
                new ArrayList<>(TestZones.changes(zone, "1975-01-01T00:00:00Z", "2045-01-01T00:00:00Z"));
        for (int i = 0; i < changes; i++) {
            Instant change = all.isEmpty()
                    ? Instant.parse("2024-03-31T01:00:00Z")
                    : all.get(random.nextInt(all.size())).getInstant();
            Span span = new Span(change.minus(AROUND), change.plus(AROUND));
            for (int k = 0; k < expressions; k++) {
                String text = crons.next();
                ReferenceCron slow = new ReferenceCron(text);
                DstPolicy policy = crons.policy();
                NavigableSet<Instant> expected = compare(text, slow, zone, policy, span);
                if (slow.followsClock() && k % 5 == 0) {
                    assertThat(slow.shownBetween(span.from, span.to, zone)).isEqualTo(expected);
                }
                probe(text, zone, policy, span, expected, random);
            }
        }
    }

    private static void overYears(ZoneId zone, Random random, int expressions) {
        RandomCron crons = new RandomCron(random);
        for (int i = 0; i < expressions; i++) {
            Instant from = Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000));
            Span span = new Span(from, from.plus(Duration.ofDays(500)));
            String text = crons.next();
            if (text.split("[ \t]+", -1).length == 5) {
                compare(text, new ReferenceCron(text), zone, crons.policy(), span);
            }
        }
    }

    private static NavigableSet<Instant> compare(
            String text, ReferenceCron slow, ZoneId zone, DstPolicy policy, Span span) {
        NavigableSet<Instant> expected = slow.between(span.from, span.to, zone, policy);
        CronExpression cron = CronExpression.parse(text);
        Instant at = span.from;
        for (Instant wanted : expected) {
            Optional<Instant> next = cron.next(at, zone, policy);
            if (!next.equals(Optional.of(wanted))) {
                assertThat(next)
                        .as("%s in %s, %s, after %s", text, zone, policy, at)
                        .contains(wanted);
            }
            at = wanted;
        }
        Optional<Instant> beyond = cron.next(at, zone, policy);
        assertThat(beyond.isPresent() && beyond.get().isBefore(span.to))
                .as("%s in %s, %s, after %s: %s", text, zone, policy, at, beyond)
                .isFalse();
        return expected;
    }

    /** The search must return the same result from any instant, not only from planned instants. */
    private static void probe(
            String text, ZoneId zone, DstPolicy policy, Span span, NavigableSet<Instant> expected, Random random) {
        CronExpression cron = CronExpression.parse(text);
        Instant middle = span.from.plus(AROUND);
        for (int i = 0; i < 40; i++) {
            long reach = i % 2 == 0 ? AROUND.toSeconds() : Duration.ofHours(4).toSeconds();
            long seconds = (long) ((2 * random.nextDouble() - 1) * reach);
            Instant after = middle.plusSeconds(seconds).plusNanos(random.nextInt(3) * 499_999_999L);
            Instant wanted = expected.higher(after);
            if (wanted != null) {
                assertThat(cron.next(after, zone, policy))
                        .as("%s in %s, %s, after %s", text, zone, policy, after)
                        .contains(wanted);
            }
        }
    }

    private static String spelledOut(String nickname) {
        return switch (nickname) {
            case "@yearly" -> "0 0 1 1 *";
            case "@monthly" -> "0 0 1 * *";
            case "@weekly" -> "0 0 * * 0";
            case "@daily" -> "0 0 * * *";
            default -> "0 * * * *";
        };
    }

    private static Span span(String from, String to) {
        return new Span(Instant.parse(from + "T23:00:00Z"), Instant.parse(to + "T23:00:00Z"));
    }

    private record Span(Instant from, Instant to) {}
}
