package io.carillon.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.carillon.RandomTrials;
import io.carillon.schedule.DstPolicy;
import io.carillon.schedule.MissedPolicy;
import io.carillon.schedule.Schedule;
import io.carillon.schedule.SchedulePolicies;
import io.carillon.schedule.TestSchedules;
import io.carillon.schedule.When;
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

/**
 * Plans a schedule through random rounds, outages and starts, and then checks that every planned instant is accounted
 * for exactly once.
 */
class TickPlannerPropertyTest {
    private static final List<String> CRONS = List.of(
            "* * * * *", "*/7 * * * *", "*/10 * * * * *", "0 2 * * *", "30 2 * * *", "15,45 */3 * * *", "0 0 29 2 *");
    private static final List<String> ZONES = List.of("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata");

    @Test
    void accounts_for_every_instant_exactly_once() {
        RandomTrials.run("no instant twice, none lost", 120, random -> {
            ScheduleSimulation scheduleSimulation = new ScheduleSimulation(random);
            for (int round = 0; round < 40; round++) scheduleSimulation.round();
            scheduleSimulation.check();
        });
    }

    /** The content of the tables. */
    private static final class ScheduleSimulation {
        private final Random random;
        private final TickPlanner planner;
        private final Instant createdAt;
        private final Map<Instant, TickPlan.Tick> waiting = new TreeMap<>();
        private final Map<Instant, String> accounted = new TreeMap<>();
        private final List<TickPlan.Tick> allTicks = new ArrayList<>();
        private Schedule schedule;
        private Instant now;

        ScheduleSimulation(Random random) {
            this.random = random;
            this.planner = new TickPlanner(Duration.ofSeconds(1 + random.nextInt(600)), 1 + random.nextInt(70));
            // Around both clock changes of 2026.
            this.createdAt = Instant.parse(random.nextBoolean() ? "2026-03-28T20:00:00Z" : "2026-10-24T20:00:00Z")
                    .plusMillis(random.nextInt(3_600_000));
            this.now = createdAt;
            this.schedule = TestSchedules.schedule(when(), policies(), createdAt);
        }

        private When when() {
            When when = random.nextInt(3) == 0 ? interval() : cron();
            if (random.nextInt(8) == 0) when = When.once(createdAt.plusSeconds(random.nextInt(100_000) - 50_000));
            if (random.nextBoolean()) when = when.jitter(Duration.ofSeconds(random.nextInt(200)));
            if (random.nextInt(4) == 0) when = when.except(dates());
            if (random.nextInt(4) == 0) when = when.maxRuns(1 + random.nextInt(200));
            if (random.nextInt(4) == 0) when = when.from(createdAt.plusSeconds(random.nextInt(50_000)));
            if (random.nextInt(4) == 0) when = when.until(createdAt.plusSeconds(50_000 + random.nextInt(90_000)));
            return when;
        }

        private List<LocalDate> dates() {
            LocalDate first = LocalDate.ofInstant(createdAt, ZoneOffset.UTC);
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
                    amount,
                    unit,
                    createdAt.minusSeconds(random.nextInt(200_000)).atZone(ZoneId.of(pick(ZONES))));
        }

        private SchedulePolicies policies() {
            return SchedulePolicies.defaults()
                    .missed(pick(List.of(MissedPolicy.values())))
                    .runAll(new SchedulePolicies.RunAllLimits(
                            1 + random.nextInt(20), Duration.ofSeconds(random.nextInt(30))))
                    .grace(Duration.ofSeconds(1 + random.nextInt(900)))
                    .catchUp(Duration.ofSeconds(random.nextInt(100_000)));
        }

        void round() {
            int longest = random.nextInt(6) == 0 ? 40_000 : 120;
            now = now.plusMillis(1 + random.nextInt(longest * 1_000));
            start();
            TickPlan plan = planner.plan(schedule, lateTicks(), now);
            if (random.nextInt(10) == 0) return; // another node wrote first, so this plan is not written
            applyLateDecisions(plan);
            plan.gaps().forEach(this::gap);
            for (TickPlan.Tick tick : plan.ticks()) {
                assertThat(waiting).doesNotContainKey(tick.plannedAt());
                account(tick.plannedAt(), "tick");
                waiting.put(tick.plannedAt(), tick);
                allTicks.add(tick);
            }
            assertThat(plan.cursor()).isAfterOrEqualTo(schedule.planningState().cursor());
            schedule = TestSchedules.afterPlan(plan);
        }

        /** Starts some of the claimable ticks, by the same conditions as the claim. */
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

        private void applyLateDecisions(TickPlan plan) {
            for (TickPlan.LateDecision lateDecision : plan.lateDecisions()) {
                TickPlan.Tick tick = byId(lateDecision.run());
                if (lateDecision.runsLate())
                    waiting.put(
                            tick.plannedAt(),
                            new TickPlan.Tick(tick.id(), tick.plannedAt(), tick.dueAt(), Instant.MAX));
                else waiting.remove(tick.plannedAt());
            }
            long lateRuns = Stream.concat(waiting.values().stream(), plan.ticks().stream())
                    .filter(tick -> tick.startBy().equals(Instant.MAX))
                    .count();
            assertThat(lateRuns)
                    .as("waiting late runs")
                    .isLessThanOrEqualTo(schedule.definition().policies().maxLateRuns());
        }

        private TickPlan.Tick byId(UUID id) {
            return waiting.values().stream()
                    .filter(tick -> tick.id().equals(id))
                    .findFirst()
                    .orElseThrow();
        }

        private void gap(TickPlan.LedgerGap ledgerGap) {
            When when = schedule.definition().when();
            Optional<Instant> at = Optional.of(ledgerGap.from());
            long count = 0;
            while (at.isPresent() && !at.get().isAfter(ledgerGap.to())) {
                account(at.get(), ledgerGap.reason());
                assertThat(when.excludes(at.get())).isEqualTo(ledgerGap.isExcluded());
                count++;
                at = when.nextIncludingExcluded(at.get());
            }
            assertThat(count).isEqualTo(ledgerGap.count());
        }

        private void account(Instant instant, String how) {
            assertThat(accounted.put(instant, how))
                    .as("earlier record of %s", instant)
                    .isNull();
        }

        void check() {
            When when = schedule.definition().when();
            List<Instant> calendar = new ArrayList<>();
            Optional<Instant> at = when.nextIncludingExcluded(createdAt);
            while (at.isPresent() && !at.get().isAfter(schedule.planningState().cursor())) {
                calendar.add(at.get());
                at = when.nextIncludingExcluded(at.get());
            }
            assertThat(accounted.keySet()).containsExactlyElementsOf(calendar);
            boolean over = schedule.runsLeft() == 0;
            assertThat(schedule.planningState().nextAt())
                    .isEqualTo(
                            over
                                    ? Instant.MAX
                                    : when.next(schedule.planningState().cursor())
                                            .orElse(Instant.MAX));
            Long most = when.bounds().maxRuns();
            if (most != null) assertThat((long) allTicks.size()).isLessThanOrEqualTo(most);
            Instant missedBefore = now.minus(schedule.definition().policies().grace());
            if (schedule.planningState().nextAt().isBefore(missedBefore))
                // Only a round whose write failed, or that its cap stopped, may leave past instants open.
                assertThat(planner.plan(schedule, List.of(), now).isEmpty()).isFalse();
            checkOrder();
        }

        /** Ticks that were planned ahead are due in the order of their planned instants, and not before them. */
        private void checkOrder() {
            List<TickPlan.Tick> onTime = allTicks.stream()
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
