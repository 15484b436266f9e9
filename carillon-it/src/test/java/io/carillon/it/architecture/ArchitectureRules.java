package io.carillon.it.architecture;

import static com.tngtech.archunit.lang.conditions.ArchConditions.accessTargetWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** The dependency rules between packages, checked on compiled classes. ArchitectureTest applies them to the product. */
public final class ArchitectureRules {

    private static final String WALL_CLOCK = "io.carillon.internal.value.WallClock";

    public static final ArchRule EVERY_PACKAGE_IS_IN_THE_PLAN = classes()
            .should(new ArchCondition<JavaClass>("be in a package of PackageRule.PLAN") {
                @Override
                public void check(JavaClass item, ConditionEvents events) {
                    if (ruleOf(item).isEmpty()) {
                        events.add(SimpleConditionEvent.violated(
                                item, item.getName() + " is outside the plan: add its package to PackageRule.PLAN"));
                    }
                }
            });

    public static final ArchRule PACKAGES_USE_ONLY_WHAT_THE_PLAN_ALLOWS = classes()
            .should(new ArchCondition<JavaClass>("use only what PackageRule.PLAN allows their package") {
                @Override
                public void check(JavaClass item, ConditionEvents events) {
                    ruleOf(item)
                            .ifPresent(packageRule -> item.getDirectDependenciesFromSelf().stream()
                                    .filter(dependency -> !allowed(packageRule, dependency))
                                    .forEach(dependency -> events.add(SimpleConditionEvent.violated(
                                            dependency,
                                            packageRule.name() + " must not use "
                                                    + dependency
                                                            .getTargetClass()
                                                            .getName() + ": "
                                                    + dependency.getDescription()))));
                }
            });

    public static final ArchRule NO_PACKAGE_CYCLES =
            slices().assignedFrom(byPackage()).should().beFreeOfCycles();

    public static final ArchRule NO_INTERNAL_PACKAGE_USES_AN_ENTRY_POINT = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.carillon.internal..",
                    "io.carillon.run",
                    "io.carillon.schedule",
                    "io.carillon.event",
                    "io.carillon.workflow",
                    "io.carillon.spi")
            .should()
            .dependOnClassesThat(are(
                    "entry points of the API",
                    item -> item.getPackageName().equals("io.carillon")
                            && PackageRule.ENTRY_POINTS.contains(outermost(item).getSimpleName())))
            .because("the entry points assemble the internal packages; an internal package that uses one closes a"
                    + " cycle");

    public static final ArchRule API_SIGNATURES_MENTION_ONLY_API_TYPES = classes()
            .that()
            .resideInAnyPackage(
                    "io.carillon",
                    "io.carillon.run",
                    "io.carillon.schedule",
                    "io.carillon.event",
                    "io.carillon.workflow",
                    "io.carillon.spi")
            .should(new ArchCondition<JavaClass>("have public members with types of the API only") {
                @Override
                public void check(JavaClass item, ConditionEvents events) {
                    if (!isPublic(item)) return;
                    item.getMembers().stream()
                            .filter(member -> member.getModifiers().contains(JavaModifier.PUBLIC)
                                    || member.getModifiers().contains(JavaModifier.PROTECTED))
                            .forEach(member -> member.getAllInvolvedRawTypes().stream()
                                    .map(type -> type.getBaseComponentType())
                                    .filter(type -> type.getPackageName().startsWith("io.carillon.internal"))
                                    .forEach(type -> events.add(SimpleConditionEvent.violated(
                                            member, member.getFullName() + " mentions " + type.getName()))));
                }
            });

    public static final ArchRule ONE_CLASS_READS_THE_WALL_CLOCK = noClasses()
            .that(are(
                    "outside " + WALL_CLOCK, item -> !outermost(item).getName().equals(WALL_CLOCK)))
            .should(accessTargetWhere(that("reads the wall clock", ArchitectureRules::readsTheWallClock)))
            .because("the database clock decides; the remaining uses of the wall clock are in one class");

    public static final ArchRule THREADS_ARE_MADE_IN_ONE_PLACE = noClasses()
            .that(are(
                    "outside cli, the test kit and the class Threads of their package",
                    item -> !inCli(item)
                            && !inTestKit(item)
                            && !outermost(item).getSimpleName().equals("Threads")))
            .should(accessTargetWhere(that("creates a thread, a timer or a pool", ArchitectureRules::makesThreads)
                    .and(DescribedPredicate.not(fromShutdownHookRegistration()))))
            .because("every thread of Carillon has a name and an exception handler, and ends at close()");

    public static final ArchRule ONLY_THE_COMMAND_ENDS_THE_JVM = noClasses()
            // A node process of the test kit must end with its parent process.
            .that(are(
                    "outside cli, the benchmark and the test kit",
                    item -> !inCli(item) && !inBench(item) && !inTestKit(item)))
            .should(accessTargetWhere(that("ends the JVM", ArchitectureRules::endsTheJvm)))
            .because("a library must not end its application");

    public static final ArchRule NO_JAVA_SERIALIZATION = noClasses()
            .should(accessTargetWhere(that(
                    "reads or writes serialized Java objects",
                    target -> ownerIs(target, "java.io.ObjectInputStream", "java.io.ObjectOutputStream"))))
            .because("payloads come from a database that others can write: deserialization would execute their code");

    private ArchitectureRules() {}

    private static Optional<PackageRule> ruleOf(JavaClass item) {
        return PackageRule.nameFor(item.getName()).flatMap(PackageRule::named);
    }

    private static boolean allowed(PackageRule rule, Dependency dependency) {
        JavaClass target = dependency.getTargetClass();
        // The component type of an array is a dependency of its own.
        return target.isPrimitive() || target.isArray() || rule.mayUse(target.getName());
    }

    private static boolean readsTheWallClock(AccessTarget target) {
        String owner = target.getOwner().getName();
        String name = target.getName();
        if (owner.startsWith("java.time.")) {
            return name.equals("now")
                    || (ownerIs(target, "java.time.InstantSource") && name.equals("system"))
                    || (ownerIs(target, "java.time.Clock")
                            && (name.startsWith("system")
                                    || Set.of("tickMillis", "tickSeconds", "tickMinutes")
                                            .contains(name)));
        }
        return (ownerIs(target, "java.lang.System") && name.equals("currentTimeMillis"))
                || (ownerIs(target, "java.util.Date") && constructsWithoutArguments(target))
                || (ownerIs(target, "java.util.Calendar") && name.equals("getInstance"))
                || (ownerIs(target, "java.util.GregorianCalendar") && constructsWithoutArguments(target));
    }

    private static boolean makesThreads(AccessTarget target) {
        String name = target.getName();
        return ownerIs(target, "java.util.concurrent.Executors")
                || (constructs(target)
                        && ownerIs(
                                target,
                                "java.lang.Thread",
                                "java.util.Timer",
                                "java.util.concurrent.ForkJoinPool",
                                "java.util.concurrent.ScheduledThreadPoolExecutor",
                                "java.util.concurrent.ThreadPoolExecutor"))
                || (ownerIs(target, "java.util.concurrent.ForkJoinPool") && name.equals("commonPool"))
                || (ownerIs(target, "java.lang.Thread")
                        && Set.of("ofPlatform", "ofVirtual", "startVirtualThread")
                                .contains(name));
    }

    /** Allows a thread that is created where it is registered as a shutdown hook: the JDK requires a thread there. */
    private static DescribedPredicate<JavaAccess<?>> fromShutdownHookRegistration() {
        return DescribedPredicate.describe(
                "where a shutdown hook is registered",
                access -> access.getOrigin().getMethodCallsFromSelf().stream()
                        .anyMatch(call -> ownerIs(call.getTarget(), "java.lang.Runtime")
                                && call.getName().equals("addShutdownHook")));
    }

    private static boolean endsTheJvm(AccessTarget target) {
        return ownerIs(target, "java.lang.System", "java.lang.Runtime")
                && Set.of("exit", "halt").contains(target.getName());
    }

    private static boolean ownerIs(AccessTarget target, String... names) {
        return Set.of(names).contains(target.getOwner().getName());
    }

    private static boolean constructs(AccessTarget target) {
        return target.getName().equals("<init>");
    }

    private static boolean constructsWithoutArguments(AccessTarget target) {
        return constructs(target)
                && ((AccessTarget.CodeUnitAccessTarget) target)
                        .getRawParameterTypes()
                        .isEmpty();
    }

    private static boolean inTestKit(JavaClass item) {
        return ruleOf(item).filter(rule -> rule.name().equals("testkit")).isPresent();
    }

    private static boolean inCli(JavaClass item) {
        return ruleOf(item).filter(rule -> rule.name().equals("cli")).isPresent();
    }

    private static boolean inBench(JavaClass item) {
        return ruleOf(item).filter(rule -> rule.name().equals("bench")).isPresent();
    }

    private static boolean isPublic(JavaClass item) {
        return item.getModifiers().contains(JavaModifier.PUBLIC)
                && item.getEnclosingClass().map(ArchitectureRules::isPublic).orElse(true);
    }

    private static JavaClass outermost(JavaClass item) {
        return item.getEnclosingClass().map(ArchitectureRules::outermost).orElse(item);
    }

    private static DescribedPredicate<JavaClass> are(String description, Predicate<JavaClass> test) {
        return DescribedPredicate.describe(description, test);
    }

    private static DescribedPredicate<JavaAccess<?>> that(String description, Predicate<AccessTarget> test) {
        return DescribedPredicate.describe(description, access -> test.test(access.getTarget()));
    }

    /** Puts each package in its own slice. io.carillon has three: its errors and values are below the entry points. */
    private static SliceAssignment byPackage() {
        return new SliceAssignment() {
            @Override
            public SliceIdentifier getIdentifierOf(JavaClass item) {
                return PackageRule.nameFor(item.getName())
                        .map(name -> item.getPackageName().equals("io.carillon") ? name : item.getPackageName())
                        .map(SliceIdentifier::of)
                        .orElseGet(SliceIdentifier::ignore);
            }

            @Override
            public String getDescription() {
                return "packages of Carillon";
            }
        };
    }
}
