package io.carillon.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.Trials;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A schedule lives through random rounds, outages and starts; afterwards every instant of its calendar is accounted for exactly once. */
class TickPlannerPropertyTest {
    private static final List<String> CRONS = List.of(
            "* * * * *", "*/7 * * * *", "*/10 * * * * *", "0 2 * * *", "30 2 * * *", "15,45 */3 * * *", "0 0 29 2 *");
    private static final List<String> ZONES = List.of("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata");

    @Test
    void accounts_for_every_instant_exactly_once_whatever_happens() {
        Trials.of("no instant twice, none lost", 120, random -> {
            Life life = new Life(random);
            for (int round = 0; round < 40; round++) life.round();
            life.check();
        });
    }

    /** What the tables would hold. */
    private static final class Life {
        private final Random random;
        private final TickPlanner planner;
        private final Instant born;
        private final Map<Instant, TickPlan.Tick> waiting = new TreeMap<>();
        private final Map<Instant, String> accounted = new TreeMap<>();
        private final List<TickPlan.Tick> everBorn = new ArrayList<>();
        private Schedule schedule;
        private Instant now;

        Life(Random random) {
            this.random = random;
            this.planner = new TickPlanner(Duration.ofSeconds(1 + random.nextInt(600)), 1 + random.nextInt(70));
            // Around both changes of the clocks in 2026.
            this.born = Instant.parse(random.nextBoolean() ? "2026-03-28T20:00:00Z" : "2026-10-24T20:00:00Z")
                    .plusMillis(random.nextInt(3_600_000));
            this.now = born;
            this.schedule = Plans.schedule(when(), policies(), born);
        }

        private When when() {
            When when = random.nextInt(3) == 0 ? interval() : cron();
            if (random.nextInt(8) == 0) when = When.once(born.plusSeconds(random.nextInt(100_000) - 50_000));
            if (random.nextBoolean()) when = when.jitter(Duration.ofSeconds(random.nextInt(200)));
            if (random.nextInt(4) == 0) when = when.except(dates());
            if (random.nextInt(4) == 0) when = when.maxRuns(1 + random.nextInt(200));
            if (random.nextInt(4) == 0) when = when.from(born.plusSeconds(random.nextInt(50_000)));
            if (random.nextInt(4) == 0) when = when.until(born.plusSeconds(50_000 + random.nextInt(90_000)));
            return when;
        }

        private List<LocalDate> dates() {
            LocalDate first = LocalDate.ofInstant(born, ZoneOffset.UTC);
            return IntStream.rangeClosed(0, 4)
                    .filter(day -> random.nextBoolean())
                    .mapToObj(first::plusDays)
                    .toList();
        }

        private When cron() {
            return When.cron(pick(CRONS), pick(ZONES))
                    .dst(new DstPolicy(
                            pick(List.of(DstPolicy.Gap.values())), pick(List.of(DstPolicy.Repeat.values()))));
        }

        private When interval() {
            ChronoUnit unit = pick(List.of(ChronoUnit.SECONDS, ChronoUnit.MINUTES, ChronoUnit.HOURS, ChronoUnit.DAYS));
            int amount = unit == ChronoUnit.SECONDS ? 20 + random.nextInt(100) : 1 + random.nextInt(40);
            return When.every(
                    amount, unit, born.minusSeconds(random.nextInt(200_000)).atZone(ZoneId.of(pick(ZONES))));
        }

        private Policies policies() {
            return Policies.defaults()
                    .missed(pick(List.of(Missed.values())))
                    .runAll(new Policies.RunAll(1 + random.nextInt(20), Duration.ofSeconds(random.nextInt(30))))
                    .grace(Duration.ofSeconds(1 + random.nextInt(900)))
                    .catchUp(Duration.ofSeconds(random.nextInt(100_000)));
        }

        void round() {
            int longest = random.nextInt(6) == 0 ? 40_000 : 120;
            now = now.plusMillis(1 + random.nextInt(longest * 1_000));
            start();
            TickPlan plan = planner.plan(schedule, lateTicks(), now);
            if (random.nextInt(10) == 0) return; // somebody else was faster: nothing of it is written
            settle(plan);
            plan.gaps().forEach(this::gap);
            for (TickPlan.Tick tick : plan.ticks()) {
                assertThat(waiting).doesNotContainKey(tick.plannedAt());
                account(tick.plannedAt(), "tick");
                waiting.put(tick.plannedAt(), tick);
                everBorn.add(tick);
            }
            assertThat(plan.cursor()).isAfterOrEqualTo(schedule.progress().cursor());
            schedule = Plans.after(plan);
        }

        /** Some of the claimable ticks are started, as the claim reads them. */
        private void start() {
            waiting.values()
                    .removeIf(
                            tick -> !tick.dueAt().isAfter(now) && tick.startBy().isAfter(now) && random.nextInt(3) > 0);
        }

        private List<TickPlan.LateTick> lateTicks() {
            return waiting.values().stream()
                    .filter(tick ->
                            !tick.startBy().isAfter(now) || tick.startBy().equals(Instant.MAX))
                    .map(tick -> new TickPlan.LateTick(
                            tick.id(), tick.plannedAt(), tick.startBy().equals(Instant.MAX)))
                    .toList();
        }

        private void settle(TickPlan plan) {
            for (TickPlan.Verdict verdict : plan.late()) {
                TickPlan.Tick tick = byId(verdict.run());
                if (verdict.runsLate())
                    waiting.put(
                            tick.plannedAt(),
                            new TickPlan.Tick(tick.id(), tick.plannedAt(), tick.dueAt(), Instant.MAX));
                else waiting.remove(tick.plannedAt());
            }
            long lateRuns = Stream.concat(waiting.values().stream(), plan.ticks().stream())
                    .filter(tick -> tick.startBy().equals(Instant.MAX))
                    .count();
            assertThat(lateRuns)
                    .as("late runs that wait")
                    .isLessThanOrEqualTo(schedule.definition().policies().lateRuns());
        }

        private TickPlan.Tick byId(UUID id) {
            return waiting.values().stream()
                    .filter(tick -> tick.id().equals(id))
                    .findFirst()
                    .orElseThrow();
        }

        private void gap(TickPlan.Gap gap) {
            When when = schedule.definition().when();
            Optional<Instant> at = Optional.of(gap.from());
            long count = 0;
            while (at.isPresent() && !at.get().isAfter(gap.to())) {
                account(at.get(), gap.reason());
                assertThat(when.excludes(at.get())).isEqualTo(gap.excluded());
                count++;
                at = when.nextAny(at.get());
            }
            assertThat(count).isEqualTo(gap.count());
        }

        private void account(Instant instant, String how) {
            assertThat(accounted.put(instant, how))
                    .as("%s was accounted for before", instant)
                    .isNull();
        }

        void check() {
            When when = schedule.definition().when();
            List<Instant> calendar = new ArrayList<>();
            Optional<Instant> at = when.nextAny(born);
            while (at.isPresent() && !at.get().isAfter(schedule.progress().cursor())) {
                calendar.add(at.get());
                at = when.nextAny(at.get());
            }
            assertThat(accounted.keySet()).containsExactlyElementsOf(calendar);
            boolean over = schedule.runsLeft() == 0;
            assertThat(schedule.progress().nextAt())
                    .isEqualTo(
                            over
                                    ? Instant.MAX
                                    : when.next(schedule.progress().cursor()).orElse(Instant.MAX));
            Long most = when.bounds().maxRuns();
            if (most != null) assertThat((long) everBorn.size()).isLessThanOrEqualTo(most);
            Instant missedBefore = now.minus(schedule.definition().policies().grace());
            if (schedule.progress().nextAt().isBefore(missedBefore))
                // Only a round that lost its write, or one stopped by its cap, may leave the past open.
                assertThat(planner.plan(schedule, List.of(), now).empty()).isFalse();
            checkOrder();
        }

        /** Ticks that were planned ahead fall due in the order of their instants, never before them. */
        private void checkOrder() {
            List<TickPlan.Tick> onTime = everBorn.stream()
                    .filter(tick -> !tick.startBy().equals(Instant.MAX))
                    .toList();
            for (int i = 0; i < onTime.size(); i++) {
                TickPlan.Tick tick = onTime.get(i);
                assertThat(tick.dueAt()).isAfterOrEqualTo(tick.plannedAt());
                if (i > 0) assertThat(tick.dueAt()).isAfter(onTime.get(i - 1).dueAt());
            }
        }

        private <T> T pick(List<T> from) {
            return from.get(random.nextInt(from.size()));
        }
    }
}
