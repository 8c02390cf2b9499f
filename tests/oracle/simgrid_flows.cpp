/*
 * simgrid_flows [-t] <CASES >TABLE: flow sets run by SimGrid, an independent simulator (https://simgrid.org,
 * LGPL), with plain max-min sharing: model CM02, no cross traffic, no TCP window.
 *
 * Input, one or more cases:
 *     case NAME
 *     hosts N
 *     links N      then per link:  BYTES_PER_SECOND SECONDS
 *     phases N     then per phase: AFTER START SHOWN   (flows begin when phase AFTER is over, -1 = none, and
 * START) flows N      then per flow:  PHASE SRC DST BYTES N LINK... (all flows from SRC to DST use the same
 * links) Output: case,phase,finish_s for the phases that are shown; with -t instead the wall-clock seconds of
 * the simulation alone and the peak memory of the process in KiB.
 *
 * An engine lives as long as its process: every case runs in a child.
 */
#include <simgrid/s4u.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace s4u = simgrid::s4u;

namespace
{

struct Flow {
    int src, dst;
    uint64_t bytes;
    std::vector<int> links;
};

struct Phase {
    int after;
    double start_s;
    int shown;
    double finish_s = -1;
    std::vector<Flow> flows;
    std::vector<int> next;
    s4u::SemaphorePtr begin;
};

struct Case {
    std::string name;
    int n_hosts;
    std::vector<double> bw_Bps, lat_s;
    std::vector<Phase> phases;
};

[[noreturn]] void stop(const std::string &why)
{
    std::cerr << "simgrid_flows: " << why << '\n';
    std::exit(2);
}

int count(const char *word)
{
    std::string got;
    int n = -1;
    if (!(std::cin >> got >> n) || got != word || n < 0)
        stop(std::string("input lacks the number of ") + word);
    return n;
}

bool read_case(Case &c)
{
    std::string word;
    if (!(std::cin >> word))
        return false;
    if (word != "case")
        stop("input has " + word + ", need case");
    std::getline(std::cin >> std::ws, c.name);
    c.n_hosts = count("hosts");
    c.bw_Bps.resize(count("links"));
    c.lat_s.resize(c.bw_Bps.size());
    for (size_t i = 0; i < c.bw_Bps.size(); i++)
        std::cin >> c.bw_Bps[i] >> c.lat_s[i];
    c.phases.resize(count("phases"));
    for (size_t i = 0; i < c.phases.size(); i++) {
        Phase &p = c.phases[i];
        std::cin >> p.after >> p.start_s >> p.shown;
        if (p.after >= 0)
            c.phases.at(p.after).next.push_back(static_cast<int>(i));
    }
    for (int n = count("flows"); n > 0; n--) {
        Flow f;
        int phase, n_links;
        std::cin >> phase >> f.src >> f.dst >> f.bytes >> n_links;
        f.links.resize(n_links);
        for (int &link : f.links)
            std::cin >> link;
        c.phases.at(phase).flows.push_back(std::move(f));
    }
    if (!std::cin)
        stop("input ends too early");
    return true;
}

/* Hosts do not compute; every pair that exchanges something has its route. */
void build_platform(Case &c, std::vector<s4u::Host *> &hosts)
{
    auto *zone = s4u::create_full_zone("net");
    std::vector<s4u::Link *> links;
    for (size_t i = 0; i < c.bw_Bps.size(); i++)
        links.push_back(
            zone->create_link("l" + std::to_string(i), c.bw_Bps[i])->set_latency(c.lat_s[i])->seal());
    for (int i = 0; i < c.n_hosts; i++)
        hosts.push_back(zone->create_host("h" + std::to_string(i), 1e9)->seal());
    std::set<std::pair<int, int>> known;
    for (const Phase &p : c.phases)
        for (const Flow &f : p.flows) {
            if (!known.insert({ f.src, f.dst }).second)
                continue;
            std::vector<s4u::LinkInRoute> route;
            for (int link : f.links)
                route.emplace_back(links.at(link));
            zone->add_route(hosts.at(f.src)->get_netpoint(), hosts.at(f.dst)->get_netpoint(), nullptr,
                            nullptr, route, false);
        }
    zone->seal();
}

/* One actor per phase. */
void run_phase(Case &c, int i, const std::vector<s4u::Host *> &hosts)
{
    Phase &p = c.phases[i];
    if (p.after >= 0)
        p.begin->acquire();
    if (p.start_s > s4u::Engine::get_clock())
        s4u::this_actor::sleep_until(p.start_s);
    std::vector<s4u::CommPtr> comms;
    comms.reserve(p.flows.size());
    for (const Flow &f : p.flows)
        comms.push_back(s4u::Comm::sendto_async(hosts[f.src], hosts[f.dst], f.bytes));
    for (auto &comm : comms)
        comm->wait();
    p.finish_s = s4u::Engine::get_clock();
    for (int next : p.next)
        c.phases[next].begin->release();
}

/*
 * Times are taken with the lazy updates that SimGrid comes with, which are faster; tables are made with full
 * ones: with long latencies the lazy ones are off by up to a few per cent (3.32).
 */
void run_case(Case &c, bool timed)
{
    int argc = 10;
    const char *args[] = { "simgrid_flows",
                           timed ? "--cfg=network/optim:Lazy" : "--cfg=network/optim:Full",
                           "--cfg=network/model:CM02",
                           "--cfg=network/crosstraffic:0",
                           "--cfg=network/TCP-gamma:0",
                           "--cfg=surf/precision:1e-12",
                           "--cfg=maxmin/precision:1e-9",
                           "--cfg=contexts/stack-size:128",
                           "--cfg=debug/clean-atexit:0",
                           "--log=root.thres:error",
                           nullptr };
    std::vector<char *> argv;
    for (const char *arg : args)
        argv.push_back(const_cast<char *>(arg));
    s4u::Engine engine(&argc, argv.data());
    std::vector<s4u::Host *> hosts;
    build_platform(c, hosts);
    auto *home = hosts[0];
    for (size_t i = 0; i < c.phases.size(); i++) {
        c.phases[i].begin = s4u::Semaphore::create(0);
        s4u::Actor::create("p" + std::to_string(i), home,
                           [&c, i, &hosts] { run_phase(c, static_cast<int>(i), hosts); });
    }
    auto begin = std::chrono::steady_clock::now();
    engine.run();
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (timed) {
        struct rusage use;
        getrusage(RUSAGE_SELF, &use);
        std::printf("%.6f %ld\n", took.count(), use.ru_maxrss);
    }
    for (size_t i = 0; i < c.phases.size() && !timed; i++)
        if (c.phases[i].shown)
            std::printf("\"%s\",%zu,%.17g\n", c.name.c_str(), i, c.phases[i].finish_s);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv)
{
    bool timed = argc == 2 && std::string(argv[1]) == "-t";
    if (argc > 1 && !timed)
        stop("usage: simgrid_flows [-t] <CASES");
    if (!timed)
        std::puts("case,phase,finish_s");
    std::fflush(stdout);
    for (;;) {
        auto c = std::make_unique<Case>();
        if (!read_case(*c))
            return 0;
        pid_t child = fork();
        if (child < 0)
            stop("no child process");
        if (child == 0) {
            run_case(*c, timed);
            _exit(0); /* not through an engine's end: the next case is the parent's */
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status != 0)
            stop("case " + c->name + " did not end well");
    }
}
