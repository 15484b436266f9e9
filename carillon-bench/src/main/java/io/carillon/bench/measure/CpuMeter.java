package io.carillon.bench.measure;

/** Measures the CPU time of this JVM and of a PostgreSQL server since a start. */
public record CpuMeter(long postmaster, long jvmNanos, long serverNanos) {
    /** Starts a measurement. */
    public static CpuMeter start(long postmaster) {
        return new CpuMeter(postmaster, CpuTime.ownNanos(), CpuTime.serverNanos(postmaster));
    }

    public Used used() {
        return new Used((CpuTime.ownNanos() - jvmNanos) / 1e9, (CpuTime.serverNanos(postmaster) - serverNanos) / 1e9);
    }

    /** The CPU time used, in seconds of one core. */
    public record Used(double jvm, double server) {
        public double both() {
            return jvm + server;
        }

        /** Returns the CPU time per item as {@code 12 + 15 us}: JVM and server. */
        public String each(long items) {
            return "%.0f + %.0f us".formatted(jvm * 1e6 / items, server * 1e6 / items);
        }
    }
}
