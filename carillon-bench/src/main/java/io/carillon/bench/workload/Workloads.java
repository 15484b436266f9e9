package io.carillon.bench.workload;

import io.carillon.bench.dashboard.DashboardData;
import io.carillon.bench.dashboard.DashboardPages;
import io.carillon.bench.measure.Profile;
import io.carillon.bench.report.Findings;
import io.carillon.bench.server.BenchDatabase;
import java.time.Duration;
import java.util.List;

/** All workloads, in the order of the table. */
public final class Workloads {
    private Workloads() {}

    public static List<Workload> all() {
        return List.of(
                new Drain(),
                new DrainShapes(),
                new SteadyLoad(),
                new EnqueueRates(),
                new EventRates(),
                new RestEnqueue(),
                new ScheduleCreation(),
                new Fire(),
                new Herd(),
                new Pickup(),
                new NoisyNeighbour(),
                new HostileProject(),
                new Idle(),
                new ScheduleScale(),
                new ScaleOut(),
                new Dashboard(),
                new Mixed(),
                new Pinned(),
                new ManyNodes(),
                new CommandStart(),
                new Memory());
    }

    /** The pages of the dashboard; the package {@code dashboard} measures them. */
    private static final class Dashboard implements Workload {
        @Override
        public String name() {
            return "dashboard";
        }

        @Override
        public String about() {
            return "the requests of each page on a history of 1 M runs, with --full 10 M, and 200 open pages";
        }

        @Override
        public Findings run(WorkloadContext context) throws Exception {
            Profile profile = context.profile();
            DashboardData.Size data = new DashboardData.Size(
                    profile.choose(200, 100_000, 1_000_000),
                    profile.choose(20, 1_000, 1_000),
                    profile.choose(100, 100_000, 100_000),
                    profile.choose(2, 7 * 24, 14 * 24));
            DashboardPages.Plan plan = new DashboardPages.Plan(
                    data,
                    profile.choose(0, 2, 2),
                    profile.choose(5, 200, 200),
                    Duration.ofSeconds(profile.choose(2, 30, 60)));
            try (BenchDatabase database = context.server().migrated()) {
                return DashboardPages.measure(database, plan, context.progress());
            }
        }
    }

    public static List<String> names() {
        return all().stream().map(Workload::name).toList();
    }
}
