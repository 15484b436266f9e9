package io.carillon.bench.measure;

/** What this JVM and a PostgreSQL server used since a moment, in seconds of one core. */
public record CpuMeter(long postmaster, long jvmNanos, long serverNanos) {
    /** From now on. */
    public static CpuMeter start(long postmaster) {
        return new CpuMeter(postmaster, Cpu.ownNanos(), Cpu.serverNanos(postmaster));
    }

    public Used used() {
        return new Used((Cpu.ownNanos() - jvmNanos) / 1e9, (Cpu.serverNanos(postmaster) - serverNanos) / 1e9);
    }

    /** Seconds of one core. */
    public record Used(double jvm, double server) {
        public double both() {
            return jvm + server;
        }

        /** Microseconds for each of so many things, as {@code 12 + 15 us}. */
        public String each(long things) {
            return "%.0f + %.0f us".formatted(jvm * 1e6 / things, server * 1e6 / things);
        }
    }
}
